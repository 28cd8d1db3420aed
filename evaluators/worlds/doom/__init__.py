"""A real game with known truth: recorded play in ViZDoom on the free maps of Freedoom."""
