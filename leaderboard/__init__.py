"""What the public sees."""
