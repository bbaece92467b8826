"""Other tuples for a bolt, behind the suite: one that it takes where it refused ours, and those that it can't take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.driver.launch import LaunchError
from multilang_cli.driver.scratch import scratch
from multilang_cli.reports.counting import counted
from multilang_cli.reports.grouping import troubles_of
from multilang_cli.reports.model import TakenTuple
from multilang_cli.reports.verdict import label_of, word_of
from multilang_cli.subject.options import redactor_of
from multilang_cli.subject.samples import has_samples
from multilang_cli.suite.probing.taken import taken_tuple
from multilang_cli.suite.probing.varied import not_taken
from multilang_cli.suite.runner.suite_run import planned, result_of
from multilang_cli.terminal.exits import ExitCode

if TYPE_CHECKING:
    from multilang_cli.reports.model import RunResult
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.runner.playing import Progress

_REFUSES = frozenset({"dies-of-a-made-up-tuple", "fails-a-made-up-tuple"})
"""Causes of who would take another tuple."""


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
    except (KeyboardInterrupt, LaunchError):
        return result
    if values is None:
        return result
    taking = msgspec.structs.replace(component, made_up=tuple(values), known_failures="")
    options = msgspec.structs.replace(subject.options, write_known_failures="")
    with scratch(".taken-", subject.record) as folder:
        run = planned(msgspec.structs.replace(subject, component=taking, options=options, record=folder))
        run.go(progress)
    if run.circumstances.interrupted:
        return result
    taken = TakenTuple(json.dumps(values, ensure_ascii=False), _told(result_of(run)))
    return msgspec.structs.replace(result, takes=taken)


def with_not_taken(subject: Subject, result: RunResult) -> RunResult:
    """The result of a bolt that passes, with a note if there are tuples near its samples that it can't take."""
    component = subject.component
    asked_for = (
        result.exit_code == ExitCode.CONFORMANT
        and result.complete
        and not (result.selection.include or result.selection.exclude)
    )
    if not (asked_for and has_samples(component)) or component.testee or component.kind != "bolt":
        return result
    try:
        note = not_taken(subject)
    except (KeyboardInterrupt, LaunchError):
        return result
    notes = (note, *result.notes) if note else result.notes
    return redactor_of(component).struct(msgspec.structs.replace(result, notes=notes))


def _told(result: RunResult) -> str:
    troubles = troubles_of(result)
    if not troubles:
        return f"{word_of(result)}, {counted(result.counts.get('pass', 0), 'case')} passed"
    return f"{label_of(result)}, {troubles[0].cause.told}"
