"""A small video world model of any views, size and actions: it learns from frames and actions
alone, and stands behind the contract of a world model."""
