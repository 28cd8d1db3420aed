"""Learned dynamics models of the simulated bench."""
