"""Judges and other metrics held against what people said in a study. May import evaluate and
below."""
