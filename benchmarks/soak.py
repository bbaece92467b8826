"""``python -m benchmarks.soak``: every right component through the whole suite, again and again, with all cores busy.

What it counts is false alarms: cases that are neither passed nor skipped, and findings. There must be none.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.options import chosen_of, parser_of
from multilang_cli.catalogue.locate import data_path
from multilang_cli.subject.options import RunOptions
from multilang_cli.subject.testee import read_testee
from multilang_cli.suite.runner.suite_run import run_suite
from tests.components import WARNED_OF, WORTH_A_WORD, copy_examples, examples, unusual

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.reports.model import RunResult
    from multilang_cli.subject.options import Component


def main() -> int:
    """Run the soak; 1 if there was a false alarm."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of a component's name; default: all")
    parser.add_argument("--times", type=int, default=50, help="suites a component")
    parser.add_argument("--busy", type=int, default=os.cpu_count() or 1, help="busy loops beside it")
    parser.add_argument("--jobs", type=int, default=1, help="cases at once")
    chosen = parser.parse_args()
    alarms = 0
    with tempfile.TemporaryDirectory() as folder, busy(chosen.busy):
        components = examples(copy_examples(Path(folder))) | unusual() | testees()
        for name, component in chosen_of(components, chosen.names):
            alarms += soak(name, component, chosen.times, chosen.jobs, folder)
    print(f"false alarms: {alarms}")
    return 1 if alarms else 0


def testees() -> dict[str, Component]:
    """The parts of the libraries' testees; those that are not prepared can't be started."""
    return {part.name: part for folder in testee_folders() for part in read_testee(folder).components()}


def testee_folders() -> list[Path]:
    """Where the libraries' testees stand."""
    return sorted(path.parent for path in data_path("conformance", "testees").glob("*/testee.yaml"))


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many cores busy."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def soak(name: str, component: Component, times: int, jobs: int, folder: str) -> int:
    """Run one component's suite so many times; returns how many of them raised a false alarm."""
    alarms, seconds = 0, []
    for number in range(times):
        began = time.monotonic()
        result = run_suite(component, RunOptions(record=f"{folder}/record", strict=True, jobs=jobs))
        seconds.append(time.monotonic() - began)
        for alarm in alarms_of(name, result):
            print(f"  {name}, run {number + 1}: {alarm}", flush=True)
        alarms += bool(alarms_of(name, result))
    print(f"{name}: {times} suites, {alarms} with a false alarm, median {statistics.median(seconds):.1f} s", flush=True)
    return alarms


def alarms_of(name: str, result: RunResult) -> list[str]:
    """What was said of a component that is right, or of a library beside what is known to be wrong with it."""
    right = name.partition("-")[2]
    fair, warned = WORTH_A_WORD.get(right, set()), WARNED_OF.get(right, set())
    new = [subject for subject in result.subjects if subject.verdict != "xfail" and subject.id not in warned]
    said = [f"{s.id}: {s.verdict}: {s.reason}" for s in new if s.verdict not in {"pass", "skip"}]
    return said + [f"{s.id}: {f.rule}: {f.message}" for s in new for f in s.findings if f.rule not in fair]


if __name__ == "__main__":
    sys.exit(main())
