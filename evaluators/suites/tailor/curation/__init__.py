"""Writing a bank with a language model and people: steps, prompts, replies, review."""
