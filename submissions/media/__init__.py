"""Pictures, clips and trajectories: decoded in children, inspected to the last byte. May import
format."""
