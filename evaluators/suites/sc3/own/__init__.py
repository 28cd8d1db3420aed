"""A lab's own robot as a bench: its real episodes and outcomes, read from a folder, with boards of
their own."""
