"""A bundle checked whole: listing, declarations, answers. May import model_files, media, format."""
