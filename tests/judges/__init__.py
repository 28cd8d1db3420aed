"""Judges: how replies are read, what endpoints do wrong, and what a run loses by it (nothing)."""
