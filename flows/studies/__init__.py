"""Human studies from their making to the board. May import evaluate, publish and below."""
