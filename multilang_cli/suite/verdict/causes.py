"""Causes of what went wrong in a conversation of the suite: the facts gathered for ``causes``, and its source read."""

from __future__ import annotations

import shlex
import signal
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.catalogue.loader import load_causes, load_tracebacks
from multilang_cli.causes.diagnosis import diagnose
from multilang_cli.causes.facts import Known, Source, facts_of
from multilang_cli.driver.launch import readable
from multilang_cli.driver.pids import has_a_pid_file
from multilang_cli.driver.process import STDERR_KEPT
from multilang_cli.judging.excerpts import excerpt_of
from multilang_cli.reports.escape import decode
from multilang_cli.reports.model import Exit, SubjectResult
from multilang_cli.subject.options import redactor_of
from multilang_cli.subject.source.sources import source_of, starter_of, user_lines_of, with_build_folders
from multilang_cli.suite.verdict.lines import TEXT, first_line, with_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.causes.model import Cause, Place
    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.runner.watch import Watch

SILENCES = frozenset({"handshake-silent", "heartbeat-timeout", "heartbeat-unanswered", "sync-missing"})
"""Rules that are broken by silence."""
UNANSWERED = {
    "tuple-unsettled": "tuple",
    "tuple-forgotten": "tuple",
    "heartbeat-unanswered": "heartbeat",
    "heartbeat-timeout": "heartbeat",
}
"""Rules that are broken by leaving something unanswered, and what that is."""
OUTLIVES = frozenset({"outlives-stdin", "outlives-worker"})
"""Rules that a component breaks by not ending."""
_PID_FILE = "pid-file-missing"
LAST_CHANCE = 1.0
"""Seconds in which a silent component has to say what it held back, once its stdin is closed."""
_NOTHING = Known()


def causes_of(
    checked: Subject,
    session: Session,
    watch: Watch,
    findings: Sequence[Finding],
    *,
    last: LastWords | None = None,
    known: Known = _NOTHING,
) -> tuple[Cause, ...]:
    """The causes of what was found in a conversation. `known`: what is known besides, as far as that does not tell."""
    source = source_of(checked.launch.argv, checked.cwd, session.judge.profile.kind)
    forms = load_tracebacks()
    stray = next((found.seq for found in findings if found.rule == TEXT), None)
    text = first_line(watch.events[stray]) if stray in watch.events else ""
    last = last or LastWords()
    known = msgspec.structs.replace(
        known,
        stderr=decode(session.process.stderr_tail),
        handled=last.handled,
        stood=last.stood,
        starter=starter_of(source, text, forms.starts(source.language)) if text else None,
        pieced=session.pump.stdin.pieces.pieced,
        sizes=watch.sizes,
        storm=checked.version.id,
        sources=user_lines_of(source),
        misplaced=last.misplaced,
    )
    facts = facts_of(watch.events.values(), findings, with_build_folders(source, known.stderr), forms, known)
    causes = diagnose(facts, load_causes(), checked.rulebook.rules)
    return with_lines(causes, facts, watch.events, source)


def met_by_the_probe(checked: Subject, session: Session, watch: Watch, last: LastWords) -> SubjectResult:
    """The result of what was met before any case, asked in a role that may not be its own, as a result to be shown."""
    kind = session.judge.profile.kind
    causes = causes_of(checked, session, watch, session.findings, last=last)
    component = checked.component
    redactor = redactor_of(component)
    words = ["mlcheck", "run", "--kind", kind, "--", *redactor.words(component.command)]
    return SubjectResult(
        id=f"probe.{kind}",
        title=f"Is it a {kind}?",
        kind="run",
        verdict="fail",
        reason=causes[0].headline if causes else "",
        findings=tuple(session.findings),
        outlook=session.judge.outlook(),
        excerpt=excerpt_of(session.findings, watch.events, redactor),
        stderr_tail=decode(session.process.stderr_tail),
        exit=Exit.of(session.own_end),
        reproduce=readable(shlex.join(words)),
        causes=causes,
    )


class LastWords(NamedTuple):
    """The last words of a silent component. `handled`: its pid file shows that it had read the handshake.

    `stood`: where in its user's own file its main thread waits, where its runtime tells that. `misplaced`: see `Known`.
    """

    handled: bool = False
    stood: Place | None = None
    misplaced: bool = False


def hear_out(session: Session, source: Source) -> LastWords:
    """Of a component that is silent or does not end, hear what it held back and where it stands."""
    broken = {finding.rule for finding in session.findings}
    if _PID_FILE in broken and session.pump.pid is not None:
        pid_dir = session.process.pid_dir
        return LastWords(misplaced=pid_dir.with_name(f"{pid_dir.name}{session.pump.pid}").exists())
    if not session.running or not broken & (SILENCES | OUTLIVES):
        return LastWords()
    if broken & OUTLIVES:
        return LastWords(stood=_standing(session, source))
    handled = has_a_pid_file(session.process.pid_dir)
    session.hear_out(LAST_CHANCE)
    return LastWords(handled, _standing(session, source))


def _standing(session: Session, source: Source) -> Place | None:
    name = load_tracebacks().asked_by(source.language)
    if not name or not session.running:
        return None
    answer = _Stderr()
    session.add_sink(answer)
    session.ask_where(signal.Signals[name], LAST_CHANCE)
    told = bytes(answer.text) or session.pump.framer.pending[-STDERR_KEPT:]
    return load_tracebacks().standing_in(decode(told), source.roots, source.language)


class _Stderr:
    def __init__(self) -> None:
        self.text = bytearray()

    def take(self, events: Iterable[Event], _: object) -> None:
        """Keep what it writes to stderr from now on."""
        for event in events:
            if event.channel == "err" and len(self.text) < STDERR_KEPT:
                self.text += event.raw
