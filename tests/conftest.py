"""What holds for all tests: Hypothesis times nothing, on a busy machine it would be a false alarm."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

pytest_plugins = ["pytester"]

# The readline of the process that started this one may have written there the size of a screen that is not ours.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
