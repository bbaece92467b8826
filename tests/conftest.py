"""What holds for all tests: Hypothesis times nothing, on a busy machine it would be a false alarm."""

import os

from hypothesis import HealthCheck, settings

from multilang_cli.driver.environment import worker_environment

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

pytest_plugins = ["pytester"]

# The readline of the process that started this one may have written there the size of a screen that is not ours.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# Nor may a report have notes on the shell of whoever runs the tests.
_worker = worker_environment({}).variables
for name in set(os.environ) - set(_worker):
    del os.environ[name]
os.environ.update(_worker)
