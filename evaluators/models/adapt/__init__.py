"""Adapting a vision-language model into a judge: batches, strategies, training, folders. May import
vlm."""
