"""The board as files: text, cells, a static site."""
