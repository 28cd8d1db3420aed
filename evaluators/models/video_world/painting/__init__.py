"""From what each view shows to a few numbers, and from those to pictures."""
