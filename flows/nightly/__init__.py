"""The scheduled night: what is stale, what moved and why, whether judges drift. May import studies,
evaluate, publish and below."""
