"""Judges of UNIVERSE: how one finds its base, sits its exam, answers behind an API, and what it is
compared with."""
