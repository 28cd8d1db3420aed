"""The commands, one module a panel of `armillary --help`. Imports what a command needs when it
runs."""
