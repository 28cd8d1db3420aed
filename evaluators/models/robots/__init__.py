"""Small networks that look at the simulated table: eyes, clones, and the seven policies."""
