"""Handed-in models in child processes with few rights: the parents' side, and the children's
`main`."""
