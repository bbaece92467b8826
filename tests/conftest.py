"""What holds for all tests: Hypothesis gives no example a time limit, on a busy machine it would be a false alarm."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
