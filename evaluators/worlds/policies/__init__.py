"""Robot policies on the simulated bench."""
