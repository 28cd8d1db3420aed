"""The board for programs: the same rows under /v1, read only, in a process of its own."""
