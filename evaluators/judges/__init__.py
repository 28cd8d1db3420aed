"""Judges: what identifies one, how a reply is read, and one that follows a script."""
