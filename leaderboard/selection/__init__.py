"""What a reader has chosen to see, and how gaps in it are filled."""
