"""How long a suite takes, against what it takes to start the component so often, and ten seconds.

``suite`` plays the component suite over the shipped examples, ``library`` both suites over each part of each testee.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Figure, Result, UnmeasuredError, interleaved
from benchmarks.soak import testee_folders, testees
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.options import RunOptions
from multilang_cli.subject.testee import prepare, read_testee
from multilang_cli.suite.runner.suite_run import run_suite
from tests.components import copy_examples, examples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from multilang_cli.subject.options import Component

ALLOWED = 10.0
"""Seconds that a suite may take beyond the component's start-ups."""
ROUNDS = 5
HANDSHAKE = "handshake.pid-first"
"""The case that is little more than a start."""


def run() -> Result:
    """Measure the component suite over each shipped example."""
    with tempfile.TemporaryDirectory() as folder:
        return _measured("suite", examples(copy_examples(Path(folder))), folder)


def library() -> Result:
    """Measure the library suite over each testee, in its language. Raises UnmeasuredError if one can't be prepared."""
    try:
        for each in testee_folders():
            prepare(read_testee(each))
    except ConfigError as error:
        raise UnmeasuredError(str(error)) from None
    with tempfile.TemporaryDirectory() as folder:
        return _measured("library", testees(), folder)


def _measured(name: str, components: Mapping[str, Component], folder: str) -> Result:
    notes = (
        f"one job; a start is the median of {ROUNDS} runs of the case {HANDSHAKE}, its end and our own work with it",
        "the rest of a spout's time are its own sleeps: it is called some 1,500 times, and sleeps when it has nothing",
    )
    figures = tuple(_figure(name, component, folder) for name, component in components.items())
    return Result(name, "not placed: the component and mlcheck take turns", figures, notes)


def _figure(name: str, component: Component, folder: str) -> Figure:
    starts = interleaved(ROUNDS, {"start": lambda: _seconds(component, folder, HANDSHAKE)[0]})["start"]
    took, cases = _seconds(component, folder)
    return Figure(
        what=f"suite over {name}, {cases} cases",
        value=took,
        unit="s",
        than=f"{cases} starts and {ALLOWED:g} s",
        reference=sorted(starts)[ROUNDS // 2] * cases + ALLOWED,
        better="lower",
        goal=1.0,
    )


def _seconds(component: Component, folder: str, *cases: str) -> tuple[float, int]:
    """Wall time of a run, and how many cases were played."""
    began = time.perf_counter()
    result = run_suite(component, RunOptions(record=folder, include=cases))
    played = sum(bool(subject.duration) for subject in result.subjects)
    return time.perf_counter() - began, played
