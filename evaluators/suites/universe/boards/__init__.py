"""Further boards of the suite, one folder each, which exports SUITE: `worlds` is the suite
`universe_worlds`. They import the suite's own modules; the suite imports nothing from here."""
