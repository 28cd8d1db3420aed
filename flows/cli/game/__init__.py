"""UNIVERSE's recorded play on the command line: data sets, private banks, contact sheets."""
