"""One component on several Storm versions, each with its own conversation: the whole suite once a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.reports.verdict import Circumstances
from multilang_cli.suite.runner.suite_run import not_run, planned, result_of, write_known_failures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from multilang_cli.reports.model import RunResult
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.runner.playing import Progress, Run


def run_versions(
    subjects: Sequence[Subject],
    progress: Sequence[Progress | None],
    slow: Callable[[float], None] | None = None,
) -> list[RunResult]:
    """Run the suite once for each of `subjects`: one component on several versions, each with its own directory.

    `progress`: as in ``run_suite``, one a version. `slow`: told the seconds that a tuple takes, once it is known. A
    known failure counts on any version: it is stale only if it is on all. Raises what ``run_suite`` raises; after a
    KeyboardInterrupt no other version is played, and what there is is returned.
    """
    runs: list[Run] = []
    cut: list[RunResult] = []
    try:
        for subject, tell in zip(subjects, progress, strict=True):
            run = planned(subject)
            run.excused = run.known.entries.keys() if len(subjects) > 1 else ()
            runs.append(run)
            run.slow = slow
            run.go(tell)
            if run.circumstances.interrupted:
                break
    except KeyboardInterrupt:
        if not runs or len(runs) == len(subjects):
            raise
        left = subjects[len(runs)]
        cut = [not_run(left.component, left.options, Circumstances(interrupted=True), "interrupted")]
    if runs:
        write_known_failures(runs)
    if len(runs) == len(subjects) > 1:
        _call_stale(runs)
    return [*map(result_of, runs), *cut]


def _call_stale(runs: Sequence[Run]) -> None:
    """Excuse no longer what is stale on every version."""
    stale = set.intersection(*(run.stale for run in runs))
    for run in runs:
        run.excused = set(run.excused) - stale
