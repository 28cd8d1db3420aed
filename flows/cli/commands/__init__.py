"""The commands, one module a panel of the help. Each imports what it needs when it runs."""
