"""Judges and agents behind OpenAI-compatible endpoints: calls, limits, budgets, faults."""
