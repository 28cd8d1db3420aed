"""What a command may be given: names, paths and values, checked before anything starts, refused in
words."""
