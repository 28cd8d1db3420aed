"""Properties are checked without a clock: on a busy machine a slow example is no bug."""

from hypothesis import settings

settings.register_profile("without a clock", deadline=None)
settings.load_profile("without a clock")
