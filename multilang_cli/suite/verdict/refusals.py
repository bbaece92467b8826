"""Refusals of made-up values: nobody declared that the component takes them, so to die of one is no failure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.catalogue.loader import load_tracebacks
from multilang_cli.causes.tracebacks import with_last_line
from multilang_cli.protocol.words.large import plain
from multilang_cli.reports.escape import decode
from multilang_cli.reports.verdict import Judgement
from multilang_cli.subject.samples import has_samples
from multilang_cli.suite.cases.case import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.causes.model import Cause
    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.subject.options import Component
    from multilang_cli.suite.cases.case import Case
    from multilang_cli.suite.runner.watch import Like, Watch
    from multilang_cli.suite.steps.stage import Stage

DEATHS = frozenset({"exited", "message-cut", "stdin-closed"})
"""What the end of a process shows as. One that lives on with a closed stdout did not die of a tuple."""

_REFUSALS = DEATHS | {"sync-missing", "heartbeat-unanswered", "heartbeat-timeout", "tuple-unsettled", "stdin-not-read"}
"""What it shows as if a component dies of what it was given, or falls silent."""


_OF_A_FIELD = re.compile(
    r"KeyError|AttributeError|NoMethodError|NameError|ReferenceError|NoSuchField|KeyNotFound|key not found|"
    r"[Uu]ndefined (?:method|index|array key|property|offset|variable|local variable|field)|Can't locate object method|"
    r"has no (?:attribute|field|member)|properties of undefined|property '\w+' of undefined|is not a valid field|"
    r"unknown field|no such (?:field|column|key|member)|missing (?:field|key)|not in (?:index|fields)|does not exist"
)
"""Words of an exception that looked for a value by a name that is not there."""


_OF_NO_VALUE = re.compile(
    r"all goroutines are asleep|[Dd]eadlock; recursive locking|^No live threads left|would self-deadlock|"
    r"[Aa]ttempt to relock|Address already in use|EADDRINUSE|Too many open files|EMFILE|No space left on device|"
    r"assignment to entry in nil map|database is locked|can't start new thread|concurrent map (?:writes|read)|"
    r"^Error: You must pass a onTaskIds callback|Can't use string \(\"end(?:\\n)?\"",
)
"""Words of an exception that no value of a tuple brings about."""
_ALARM = 14
_MEMORY_FAULTS = frozenset({7, 11})
"""SIGBUS and SIGSEGV: a component that refuses a value ends otherwise."""


class Refused(NamedTuple):
    """A made-up tuple that a component did not take: what it is like, and the verdict if it is seen to take such.

    `beating`: it ended with a heartbeat unanswered, so it may have died of that. `acked_first`: it had acked one.
    `causes`: of what is wrong, if it is to blame.
    """

    like: Like
    otherwise: Judgement
    beating: bool = False
    acked_first: bool = False
    causes: tuple[Cause, ...] = ()


_OVERFLOWS = frozenset(
    {"integer-too-big", "integer-damaged", "json-nonfinite", "json-number", "number-too-large", "decimal-value"}
)
"""What comes of reckoning with numbers that nobody promised."""


def refusal_of(case: Case, stage: Stage | None, findings: Sequence[Finding], watch: Watch) -> Judgement | None:
    """The verdict if all that is wrong is that the component refuses what we made up; None if there is more to it.

    Who took it once, and dies of the same later, refuses nothing; nor does a process that stopped itself, or that
    lives on without reading its stdin.
    """
    unlike = watch.unlike_a_refusal or _of_no_value(stage) or (watch.open and watch.first_open is None)
    unlike = unlike or _loses_escapes(stage, findings, watch)
    refusal = None if unlike else _refusal(case, stage)
    wrong = [finding for finding in findings if finding.level != "note" or finding.rule in _OVERFLOWS]
    if refusal is None or stage is None or stage.made_up is None or not wrong:
        return None
    excused = _REFUSALS | _OVERFLOWS if stage.refusable else _REFUSALS
    if any(finding.rule not in excused or finding.seq < stage.made_up for finding in wrong):
        return None
    promise = f'; if it should, say so: accepts = ["{refusal.unless}"]' if refusal.unless else ""
    beaten = watch.beats > 0 and any(finding.rule in DEATHS for finding in wrong)
    what = f"it ended at {refusal.of}, or at a heartbeat behind it" if beaten else f"it does not take {refusal.of}"
    ended = stage.session.exit
    faulty = ended is not None and ended.signal in _MEMORY_FAULTS
    return Judgement("untestable" if faulty else refusal.verdict, f"{what}: {wrong[0].message}{promise}")


def _loses_escapes(stage: Stage | None, findings: Sequence[Finding], watch: Watch) -> bool:
    """True if it takes plain text of our making, and will never settle the same with escapes: it misreads JSON.

    Who does not want a text acks or fails its tuple.
    """
    if stage is None or not stage.trying or any(each.level == "must" for each in findings):
        return False
    proven = any(getattr(each.body, "proven", False) for each in watch.events.values())
    left_open = [plain(fed.message.values) for fed in stage.feed.open.values()]
    return proven and bool(left_open) and all(map(_has_escapes, left_open))


def _has_escapes(values: list[Json]) -> bool:
    return "\\" in json.dumps(values, ensure_ascii=False)


def without_overflows(findings: Sequence[Finding], stage: Stage | None) -> tuple[Finding, ...]:
    """The findings but those that come of reckoning with numbers which the component may refuse."""
    if stage is None or not stage.refusable or stage.made_up is None:
        return tuple(findings)
    made_up = stage.made_up
    return tuple(each for each in findings if each.rule not in _OVERFLOWS or each.seq < made_up)


def refused_sample(component: Component, stage: Stage | None, findings: Sequence[Finding], watch: Watch) -> Like | None:
    """The traits of a sample of ours that a component fails or dies of, or falls silent at; None if it takes it.

    Only the first like it counts: who has acked one takes it, unless that was the last that it did.
    """
    if has_samples(component) or component.testee or stage is None or not stage.fed or watch.unlike_a_refusal:
        return None
    if _of_no_value(stage):
        return None
    if stage.made_up is not None and any(finding.seq >= stage.made_up for finding in findings):
        return None
    musts = {finding.rule for finding in findings if finding.level == "must"}
    if musts:
        acked_first = watch.last_acked if musts & DEATHS else None
        return watch.first_open or watch.refused or acked_first if musts <= _REFUSALS else None
    waited = any(finding.rule == "tuple-unsettled" for finding in findings)
    silent = watch.silent or bool(stage.session.judge.state.heartbeats)
    return watch.first_open if waited and silent else watch.refused


def _of_no_value(stage: Stage | None) -> bool:
    """True if it died of what no value of a tuple is to blame for."""
    if stage is None or stage.session.exit is None:
        return False
    death = load_tracebacks().death_in(decode(stage.session.process.stderr_tail))
    told = death is not None and _OF_NO_VALUE.search(death.text) is not None
    return told or stage.session.exit.signal == _ALARM


def died_of_a_heartbeat(findings: Sequence[Finding], watch: Watch, fed: int) -> bool:
    """True if a component that was fed nothing ended with a heartbeat unanswered."""
    return not fed and watch.beats > 0 and any(finding.rule in DEATHS for finding in findings)


def why_refused(component: Component, session: Session, watch: Watch) -> str:
    """A sentence on what became of a made-up sample, the cause first, and which option would help."""
    exited, stderr = session.own_end, decode(session.process.stderr_tail)
    tracebacks = load_tracebacks()
    # What it throws at its end, it throws of that.
    texts = (watch.words, "" if watch.refused and watch.dismissed else stderr)
    death = next(filter(None, map(tracebacks.death_in, texts)), None)
    cause = death.text if death is not None else ""
    what = "fails" if watch.refused else "falls silent at"
    if exited is not None and not (watch.refused and watch.dismissed):
        what = "dies of"
        cause = cause or with_last_line(exited.how, stderr)
    sample = "give a sample that it takes (--tuple JSON, or samples)"
    if what == "falls silent at":
        sample += ", or say when it settles one (--settles)"
    if misses_a_field(cause) and not component.sources:
        sample = f"tell the names of its input's fields (--input COMPONENT:FIELD,..., or sources), or {sample}"
    return f"it {what} a made-up tuple{f': {cause}' if cause else ''}; {sample}"


def misses_a_field(cause: str) -> bool:
    """True if a name was looked for that is not there, such as that of a field."""
    return _OF_A_FIELD.search(cause) is not None


def costs_nothing(case: Case, accepts: frozenset[str]) -> bool:
    """True if the component may refuse what the case makes up without any harm."""
    return case.refusal is not None and case.refusal.verdict == "skip" and case.refusal.unless not in accepts


def _refusal(case: Case, stage: Stage | None) -> Refusal | None:
    if stage is None:
        return None
    if stage.trying:
        return Refusal(verdict="skip", of=stage.trying, unless="text")
    if case.refusal is not None and case.refusal.unless not in stage.accepts:
        return case.refusal
    return None
