"""What something costs, always as a ratio within one run; `make bench` runs all of them."""
