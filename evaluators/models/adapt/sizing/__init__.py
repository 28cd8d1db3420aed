"""What adapting a model needs before anybody tries it: memory and operations, counted without
weights."""
