"""Robot episodes as LeRobot data sets: written in the published layout v3, read in v3 and v2.1."""
