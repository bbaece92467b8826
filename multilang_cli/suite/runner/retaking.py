"""The suite once more, with a tuple that a bolt takes, where it failed or died of the one that was made up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.reports.counting import counted
from multilang_cli.reports.grouping import troubles_of
from multilang_cli.reports.model import TakenTuple
from multilang_cli.reports.verdict import word_of
from multilang_cli.subject.samples import has_samples
from multilang_cli.suite.probing.taken import taken_tuple
from multilang_cli.suite.runner.suite_run import planned, result_of
from multilang_cli.terminal.exits import ExitCode

if TYPE_CHECKING:
    from multilang_cli.reports.model import RunResult
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.runner.playing import Progress

_REFUSES = frozenset({"dies-of-a-made-up-tuple", "fails-a-made-up-tuple"})
"""Causes of who would take another tuple."""
FOLDER = "taken"
"""Folder of the transcripts of that, below those of the run."""


def with_taken(subject: Subject, result: RunResult, progress: Progress | None = None) -> RunResult:
    """The result with a tuple that the bolt takes, and how it fares with that; its verdict stays what it is.

    Nobody said that such tuples come, so what is found with it is for its user to look at.
    """
    component = subject.component
    if has_samples(component) or component.sources or component.testee or component.kind != "bolt":
        return result
    if result.exit_code != ExitCode.INCONCLUSIVE:
        return result
    if not any(trouble.cause.id in _REFUSES for trouble in troubles_of(result)[:1]):
        return result
    try:
        values = taken_tuple(subject)
    except KeyboardInterrupt:
        return result
    if values is None:
        return result
    run = planned(
        msgspec.structs.replace(
            subject,
            component=msgspec.structs.replace(component, made_up=tuple(values)),
            options=msgspec.structs.replace(subject.options, write_known_failures=""),
            record=subject.record / FOLDER,
        )
    )
    run.go(progress)
    if run.circumstances.interrupted:
        return result
    taken = TakenTuple(json.dumps(values, ensure_ascii=False), _told(result_of(run)))
    return msgspec.structs.replace(result, takes=taken)


def _told(result: RunResult) -> str:
    troubles = list(troubles_of(result))
    if not troubles:
        passed = result.counts.get("pass", 0)
        return f"{word_of(result)}, {counted(passed, 'case')} passed"
    sure = "" if troubles[0].cause.certainty == "certain" else "likely: "
    label = word_of(result) if result.exit_code else "WARN"
    return f"{label}, {sure}{troubles[0].cause.headline}"
