"""A pure library: suites, metrics, judges, models, worlds. No database, no store, no Prefect, no
page."""
