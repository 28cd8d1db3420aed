"""One submission from the door to its scores, one module a step. May import publish, run, workers,
durable."""
