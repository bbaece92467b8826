"""A bolt asked behind the suite: which tuple it takes, if a tick settles what it left open, what it can't take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.driver.launch import LaunchError
from multilang_cli.driver.scratch import scratch
from multilang_cli.reports.counting import counted
from multilang_cli.reports.grouping import troubles_of
from multilang_cli.reports.model import TakenTuple
from multilang_cli.reports.verdict import conclude, headline_word, word_of
from multilang_cli.subject.options import redactor_of
from multilang_cli.subject.samples import has_samples
from multilang_cli.suite.probing.taken import taken_tuple
from multilang_cli.suite.probing.varied import fed_near_samples
from multilang_cli.suite.runner.suite_run import planned, result_of
from multilang_cli.suite.steps.settling import FORGETS
from multilang_cli.terminal.exits import ExitCode

if TYPE_CHECKING:
    from multilang_cli.reports.model import RunResult
    from multilang_cli.subject.options import Component
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.runner.playing import Progress

_REFUSES = frozenset({"dies-of-a-made-up-tuple", "fails-a-made-up-tuple"})
"""Causes of who would take another tuple."""
_PLAIN = "bolt.settle.once"
"""The case in which a bolt is fed, and does no more than settle."""


def with_taken(subject: Subject, result: RunResult, progress: Progress | None = None) -> RunResult:
    """The result with what a bolt takes, or when it settles, where it refused our tuple, or left all of them open.

    Nobody said so, so its verdict stays what it is, and what is found with that is for its user to look at.
    """
    component, first = subject.component, next(iter(troubles_of(result)), None)
    if first is None or component.testee or component.kind != "bolt":
        return result
    # Who takes the plain one refuses some values of ours, and needs no other shape.
    takes_it = any(each.id == _PLAIN and each.verdict == "pass" for each in result.subjects)
    made_up = not (has_samples(component) or component.sources or takes_it)
    try:
        if made_up and result.exit_code == ExitCode.INCONCLUSIVE and first.cause.id in _REFUSES:
            return _with(result, _taken(subject, progress))
        if first.cause.id == FORGETS and _PLAIN in {each.id for each in first.subjects} and not component.settles:
            return _with(result, _settled_on_tick(subject) if first.verdict != "fail" else None)
    except (KeyboardInterrupt, LaunchError):
        pass
    return result


def _with(result: RunResult, taken: TakenTuple | None) -> RunResult:
    return result if taken is None else msgspec.structs.replace(result, takes=taken)


def _taken(subject: Subject, progress: Progress | None) -> TakenTuple | None:
    values = taken_tuple(subject)
    if values is None:
        return None
    again = _played(subject, msgspec.structs.replace(subject.component, made_up=tuple(values)), (), progress)
    return None if again is None else TakenTuple(json.dumps(values, ensure_ascii=False), _told(again))


def _settled_on_tick(subject: Subject) -> TakenTuple | None:
    again = _played(subject, msgspec.structs.replace(subject.component, settles="on-tick"), (_PLAIN,))
    if again is None or again.exit_code != ExitCode.CONFORMANT or troubles_of(again):
        return None
    return TakenTuple("on-tick", f"it settles what {_PLAIN} feeds it, once a tick comes", "--settles")


def _played(
    subject: Subject, component: Component, include: tuple[str, ...], progress: Progress | None = None
) -> RunResult | None:
    """The result of the suite, or the cases of it that are named, with another declaration; None if interrupted."""
    options = msgspec.structs.replace(subject.options, write_known_failures="")
    options = msgspec.structs.replace(options, include=include or options.include)
    component = msgspec.structs.replace(component, known_failures="")
    with scratch(".taken-", subject.record) as folder:
        run = planned(msgspec.structs.replace(subject, component=component, options=options, record=folder))
        run.go(progress)
    return None if run.circumstances.interrupted else result_of(run)


def with_near_samples(subject: Subject, result: RunResult) -> RunResult:
    """The result of a bolt that passes, with how it took tuples near its samples, or near the one that was made up."""
    component = subject.component
    asked_for = (
        result.exit_code == ExitCode.CONFORMANT
        and result.complete
        and not (result.selection.include or result.selection.exclude)
    )
    if not asked_for or component.testee or component.kind != "bolt":
        return result
    try:
        near = fed_near_samples(subject)
    except (KeyboardInterrupt, LaunchError):
        return result
    if near.lost is not None:
        subjects = (*result.subjects, near.lost)
        result = conclude(msgspec.structs.replace(result, subjects=subjects, untested=()))
    return redactor_of(component).struct(near.noted(result))


def _told(result: RunResult) -> str:
    troubles = troubles_of(result)
    if not troubles:
        return f"{word_of(result)}, {counted(result.counts.get('pass', 0), 'case')} passed"
    return f"{headline_word(result)}, {troubles[0].cause.told}"
