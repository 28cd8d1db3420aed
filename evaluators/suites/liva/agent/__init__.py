"""ORCA, the agent around a video model: beliefs, prompts, replies, the loop and its trace."""
