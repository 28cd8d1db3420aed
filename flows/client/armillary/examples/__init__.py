"""From prompts to the board, as a script and as a notebook; put your model in."""
