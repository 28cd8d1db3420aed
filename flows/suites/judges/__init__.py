"""How an adapted judge of UNIVERSE finds its base and sits its exam."""
