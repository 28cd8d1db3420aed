"""The bad inputs of the table in reliability.md, section 2, each with the number of its row and its
code."""
