"""How the packaged small reader is made: drawn material, and a course over it."""
