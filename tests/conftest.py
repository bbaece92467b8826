"""What holds for all tests: Hypothesis times nothing, on a busy machine it would be a false alarm."""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from multilang_cli.driver.environment import worker_environment

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("untimed"), max_examples=20)
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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector, and let it pass over what was collected: some 10,000 tests live on."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


SAMPLE = 6
"""Sets of parameters that CI plays of a test that starts processes, unless its marker says how many."""


def spread(count: int, total: int) -> set[int]:
    """Places of `count` among `total`, at even distances, the first among them; all of them if there are fewer."""
    return {total * number // count for number in range(count)} if count < total else set(range(total))


def _sample(item: pytest.Function) -> int:
    """Sets of parameters of a test that CI plays; 0 for all of them."""
    if (mark := item.get_closest_marker("sample")) is not None:
        return int(mark.args[0])
    return SAMPLE if item.get_closest_marker("component") is not None else 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Leave what a sample does not hold to the soak: before pytest chooses by markers."""
    sampled: dict[tuple[str, str], list[pytest.Function]] = {}
    for item in items:
        if _sample(item):
            sampled.setdefault((str(item.path), item.originalname), []).append(item)
    for each in sampled.values():
        kept = spread(_sample(each[0]), len(each))
        for place, item in enumerate(each):
            if place not in kept:
                item.add_marker("soak")
