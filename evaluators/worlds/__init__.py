"""Small simulated worlds whose truth is known."""
