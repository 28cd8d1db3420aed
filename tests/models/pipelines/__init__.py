"""Pipelines as published with only their sizes reduced, run as their authors mean it."""
