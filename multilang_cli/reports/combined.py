"""One result over several components and Storm versions: what a reader of one report asks of them all. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.reports.model import ComponentReport, Verdict
from multilang_cli.reports.verdict import count, precedence, worst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.reports.model import RunResult


def combine(results: Sequence[RunResult]) -> RunResult:
    """The result over several components and versions: it has no subjects of its own, its `parts` have them.

    Counts and durations are summed; outlook, verdict and exit code are the worst of the parts, by the order of
    ``verdict.OUTCOMES``, of verdict and code only where a part `gates` or was interrupted; it is complete if all are.
    What was asked is taken from the first. Raises ValueError for none.
    """
    if not results:
        raise ValueError("there is no result to combine")
    gating = [result for result in results if result.gates or result.verdict == "interrupted"]
    gravest = min(gating or results, key=precedence)
    return msgspec.structs.replace(
        results[0],
        component=ComponentReport(command=()),
        profile=None,
        storm=", ".join(dict.fromkeys(result.storm for result in results)),
        subjects=(),
        duration=sum(result.duration for result in results),
        counts=_summed(results),
        outlook=worst(outlook for result in results for outlook in result.outlook),
        verdict=gravest.verdict,
        exit_code=gravest.exit_code,
        complete=all(result.complete for result in results),
        notes=(),
        observations=(),
        untested=(),
        next_command="",
        gates=True,
        parts=tuple(results),
    )


def parts_of(result: RunResult) -> tuple[RunResult, ...]:
    """The results of one component each: the parts of a combined result, else the result itself."""
    return result.parts or (result,)


def played_on(parts: Sequence[RunResult]) -> str:
    """The Storm versions behind a comma, "" if none was asked for: each recording of an audit has its own."""
    storms = ", ".join(filter(None, (part.storm for part in parts)))
    return f", Storm {storms}" if storms else ""


def label_of(result: RunResult) -> str:
    """The label of a component's result among others: the component's name, else its command."""
    return result.component.name or " ".join(result.component.command)


def untested_in(result: RunResult) -> int:
    """The number of subjects that were not tested, in all parts."""
    return sum(len(each.ids) for part in parts_of(result) for each in part.untested)


def _summed(results: Sequence[RunResult]) -> dict[Verdict, int]:
    counts = count(())
    for result in results:
        for verdict, number in result.counts.items():
            counts[verdict] += number
    return counts
