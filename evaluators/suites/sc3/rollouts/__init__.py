"""Policies inside a world model: loops, trajectories, stopping, and the worlds that bound a learned
one."""
