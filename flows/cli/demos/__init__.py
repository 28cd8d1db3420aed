"""What each suite hands in for the demo: one module a suite with `bundles(settings)`."""
