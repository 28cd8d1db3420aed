"""`armillary doctor`: one module a part of the installation, each a generator of findings."""
