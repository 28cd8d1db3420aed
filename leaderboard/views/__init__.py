"""The pages: each asks a question, draws a table or chart, and has a few widgets."""
