"""What holds for all tests: Hypothesis times nothing, on a busy machine it would be a false alarm."""

import gc
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from multilang_cli.driver.environment import worker_environment

# Each run has other examples; `dev.py test examples` has a thousand at once.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
settings.register_profile("quick", settings.get_profile("untimed"), max_examples=20)
settings.register_profile("many", settings.get_profile("untimed"), max_examples=1000)
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


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which a stage chooses nothing: 87 of 246 for unit tests, and what those import.

    Marks stand in the file itself (`test_marks_stand_where_the_tests_do`), those of all its tests in ``pytestmark``.
    """
    terms = config.getoption("markexpr").split(" and ")
    files = collection_path.rglob("test_*.py") if collection_path.is_dir() else [collection_path]
    return True if all(has_none(file, terms) for file in files) else None


def has_none(file: Path, terms: list[str]) -> bool:
    """True if no test of a file can have the marks of all terms, such as ``component`` or ``not soak``."""
    marks, of_all = _marks(file)
    unwanted = {term.removeprefix("not ") for term in terms if term.startswith("not ")}
    # What a sample leaves out is marked as soak here, not there.
    wanted = {term for term in terms if term.isidentifier() and term != "soak"}
    return not of_all.isdisjoint(unwanted) or not wanted <= marks


@cache
def _marks(file: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The marks that stand in a file, and those of all its tests."""
    text = file.read_text(encoding="utf-8") if file.suffix == ".py" else ""
    of_all = text.partition("\npytestmark = ")[2].partition("\n\n")[0]
    return frozenset(_MARK.findall(text)), frozenset(_MARK.findall(of_all))


_MARK = re.compile(r"\bmark\.(\w+)")


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
