"""``python -m benchmarks.same_verdict``: one component, the same verdict every time, right or wrong, on a busy machine.

Each component is played again and again. Compared is what a user's CI would see: the exit code, the verdict of each
case and the rules that each breaks. Any difference between two runs is printed, and counted. With ``--pauses`` the
machine seems to stand still now and then, for longer than Storm's side may be silent: no load is needed to find what a
pause makes of a verdict.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from unittest.mock import patch

from benchmarks.options import chosen_of, parser_of
from benchmarks.soak import busy
from multilang_cli.subject.options import RunOptions
from multilang_cli.subject.testee import read_testee
from multilang_cli.suite.runner.suite_run import run_suite
from tests.components import copy_examples, examples, unusual
from tests.planted import FILES, of_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.reports.model import RunResult
    from multilang_cli.subject.options import Component

TESTEES = Path(__file__).resolve().parent.parent / "conformance" / "testees"
PAUSE = 6.5
"""Seconds for which the machine seems to stand still: Storm's side may be silent for 5."""
Outcome = tuple[int, frozenset[tuple[str, str, frozenset[str]]]]
"""The exit code, and of each case its id, its verdict and the rules that it broke."""


def main() -> int:
    """Play all, and return 1 if one component had two outcomes."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of a component's name; default: all")
    parser.add_argument("--times", type=int, default=20, help="runs a component")
    parser.add_argument("--busy", type=int, default=os.cpu_count() or 1, help="busy loops beside it")
    parser.add_argument("--jobs", type=int, default=2, help="cases at once")
    parser.add_argument(
        "--pauses", type=float, default=0.0, help="the part of looks at the clock before which the machine stands still"
    )
    chosen = parser.parse_args()
    differing = 0
    with tempfile.TemporaryDirectory() as folder, busy(chosen.busy), pausing(chosen.pauses):
        for name, component in chosen_of(components(Path(folder)), chosen.names):
            differing += not is_steady(name, component, chosen.times, chosen.jobs, folder)
    print(f"components with more than one outcome: {differing}")
    return 1 if differing else 0


def components(folder: Path) -> dict[str, Component]:
    """The right components of the repository, the wrong ones of ``tests/mutants``, and the parts of the testees."""
    wrong = {f"{each.home}:{each.name}": each.components[0] for file in FILES for each in of_file(file)}
    testees = (read_testee(each.parent).components() for each in sorted(TESTEES.glob("*/testee.yaml")))
    parts = {f"{Path(part.cwd or '').name}-{part.testee}": part for each in testees for part in each}
    return examples(copy_examples(folder)) | unusual() | wrong | parts


@contextmanager
def pausing(part: float) -> Iterator[None]:
    """Have the machine seem to stand still before a part of the looks at its clock; each run draws others."""
    real, draw, stood = time.monotonic, Random(part).random, 0.0

    def looked_at() -> float:
        """The time of a machine that stands still now and then."""
        nonlocal stood
        stood += PAUSE * (draw() < part)
        return real() + stood

    with patch.object(time, "monotonic", looked_at):
        yield


def is_steady(name: str, component: Component, times: int, jobs: int, folder: str) -> bool:
    """Play one component so many times, and print how its outcomes differ."""
    options = RunOptions(record=f"{folder}/record", jobs=jobs)
    outcomes = [outcome_of(run_suite(component, options)) for _ in range(times)]
    counts = {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)}
    usual = max(counts, key=lambda outcome: counts[outcome])
    print(f"{name}: {counts[usual]} of {times} alike, exit code {usual[0]}", flush=True)
    for outcome, count in counts.items():
        for case, verdict, rules in sorted(outcome[1] - usual[1]):
            print(f"  {count} of {times}: {case}: {verdict} {', '.join(sorted(rules))}", flush=True)
    return len(counts) == 1


def outcome_of(result: RunResult) -> Outcome:
    """What a user's CI would see of a run."""
    cases = [(each.id, each.verdict, frozenset(found.rule for found in each.findings)) for each in result.subjects]
    return result.exit_code, frozenset(cases)


if __name__ == "__main__":
    sys.exit(main())
