"""Bundles changed at random: only IntakeError may leave the reader."""
