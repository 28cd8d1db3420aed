"""A world model by somebody else: nothing of ours is imported here but the contract."""
