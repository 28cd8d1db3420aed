"""What comes in, and whether it is fit to score."""
