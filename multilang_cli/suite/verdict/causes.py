"""Causes of what went wrong in a conversation of the suite: the facts gathered for ``causes``, and its source read."""

from __future__ import annotations

import re
import shlex
import signal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.catalogue.loader import load_causes, load_tracebacks
from multilang_cli.causes.callers import callers_of
from multilang_cli.causes.complaints import tells_of_trouble
from multilang_cli.causes.diagnosis import diagnose
from multilang_cli.causes.early_exits import default_exit, early_exit
from multilang_cli.causes.facts import Known, Source, facts_of
from multilang_cli.causes.tracebacks import last_line, own
from multilang_cli.driver.launch import readable
from multilang_cli.driver.pids import has_a_pid_file
from multilang_cli.driver.process import STDERR_KEPT
from multilang_cli.judging.excerpts import excerpt_of
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Log, Malformed, Sync
from multilang_cli.reports.escape import decode
from multilang_cli.reports.model import Exit, SubjectResult
from multilang_cli.subject.options import redactor_of
from multilang_cli.subject.source.lines import source_lines
from multilang_cli.subject.source.sources import (
    all_lines_of,
    lines_of,
    origin_in,
    source_of,
    starter_of,
    suspect_in,
    with_build_folders,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.causes.facts import Facts
    from multilang_cli.causes.model import Cause, KnownCause, Place
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
_HEARD = 8
"""Lines of stderr of which the origin is looked for."""
OUTLIVES = frozenset({"outlives-stdin", "outlives-worker"})
"""Rules that a component breaks by not ending."""
_PID_FILE = "pid-file-missing"
_COMPLAINED = frozenset({"logs-and-forgets"})
"""Causes whose place is where what was logged was written."""
_EXTRA = "sync-extra"
_NO_SYNC = "sync-missing"
_LOOKS_FOR = r"(?:\b(?:when|case|eq|elif|elsif|if)\b|==|=>|\{{).{{0,40}}[\"'`:]{}\b(?!\W{{0,3}}\])"
"""A line that looks for a command by its name."""
_TEXT = "stdout-text"
"""The rule that is broken by what is no message at all."""
LAST_CHANCE = 1.0
"""Seconds in which a silent component has to say what it held back, once its stdin is closed."""
_WRITES: dict[type, str] = {Ack: "ack", Emit: "emit", Fail: "fail", Log: "log", Sync: "sync"}
"""The command of a message."""
_SPELT = re.compile(rb'"command" ?: ?"(ack|emit|fail|log|sync)"')
"""The command of a message that can't be read as JSON, where its beginning can."""
_NAMED = re.compile(r" in (?P<file>/\S+?) on line (?P<line>\d{1,6})\b")
"""A place as PHP names it in what it prints of an error."""
_OF_VALUES = frozenset({"decimal-value", "integer-too-big", "nested-value", "number-too-large", "values-unlike-schema"})
"""Rules that are broken by one of the values of an emit."""
_MAKES_VALUES = re.compile(r"\btuple[\"']?\s*(?:=>|[:=,])\s*(?:\[\]\w+(?:\{\})?)?[\[{(]\s*(?!\.\.\.|\*)[^\s\])}]")
"""A line that makes the list of the values."""
_LONGEST_SOURCE_LINE = 200
"""Characters of a line of source that are kept."""
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
    source = source_of(checked.launch.argv, checked.cwd, session.profile.kind)
    forms = load_tracebacks()
    stray = next((found.seq for found in findings if found.rule == _TEXT), None)
    text = _first_line(watch.events[stray]) if stray in watch.events else ""
    last = last or LastWords()
    known = msgspec.structs.replace(
        known,
        stderr=decode(session.process.stderr_tail),
        handled=last.handled,
        stood=last.stood,
        starter=starter_of(source, text, forms.starts(source.language)) if text else None,
        pieced=session.stdin.pieces.pieced,
        sizes=watch.sizes,
        storm=checked.version.id,
        sources=lines_of(source),
        misplaced=last.misplaced,
    )
    facts = facts_of(watch.events.values(), findings, with_build_folders(source, known.stderr), forms, known)
    causes = diagnose(facts, load_causes(), checked.rulebook.rules)
    by_id = {each.id: each for each in load_causes()}
    placed = [_placed(cause, facts, watch, source) for cause in causes]
    suspected = (_suspecting(cause, by_id.get(cause.id), facts, watch) for cause in placed)
    return tuple(with_code(cause, source.roots) for cause in suspected)


def _suspecting(cause: Cause, known: KnownCause | None, facts: Facts, watch: Watch) -> Cause:
    """The cause with the only line of the source that looks as what does such things, where no place is known.

    Of a message with a wrong part it is the only line that writes such a command; of a command that is not answered,
    the only one that looks for it.
    """
    by_source = known is not None and known.by_source
    if cause.place is not None and not by_source:
        return cause
    source = facts.source
    patterns = load_tracebacks().methods_in(facts.trace, source.language) if cause.last else []
    patterns += known.suspects.get(source.language, ()) if known is not None else ()
    patterns += [_LOOKS_FOR.format(facts.unanswered)] if _NO_SYNC in cause.rules and facts.unanswered else []
    event = watch.events.get(cause.seq) if cause.seq is not None else None
    command = _command_of(event) if event is not None and event.channel == "out" else ""
    # Who syncs one time too many does it anywhere; a comparison writes nothing.
    # Nor does the message behind a text say who printed that.
    written = command and (command != "sync" or _EXTRA in cause.rules) and _TEXT not in cause.rules
    in_adapter = known is not None and known.in_adapter
    places = (suspect_in(source, pattern, in_adapter=in_adapter) for pattern in patterns)
    # What is seen on stderr was not written to stdout.
    heard = {origin_in(source, line) for line in facts.stderr.splitlines()[:_HEARD]}
    suspect, also = next((place for place in places if place is not None and place not in heard), None), None
    if suspect is None and event is not None and written:
        suspect, also = _writer_of(event, command, source, of_values=not _OF_VALUES.isdisjoint(cause.rules))
    elif suspect is None and _NO_SYNC in cause.rules and facts.unanswered:
        suspect = default_exit("sync", all_lines_of(source))
    elif suspect is not None and _NO_SYNC in cause.rules:
        exit_ = early_exit(suspect, "sync", all_lines_of(source))
        suspect, also = (exit_, suspect) if exit_ else (suspect, None)
    place = None if suspect is not None and by_source else cause.place
    return msgspec.structs.replace(cause, place=place, suspect=suspect, also=cause.also if place else also)


def _writer_of(event: Event, command: str, source: Source, *, of_values: bool) -> tuple[Place | None, Place | None]:
    """The line that writes such a message: those which call it, where it stands in a helper that writes all of them.

    `of_values`: what is looked for is a value, which a helper that makes the list of them made itself.
    """
    place = suspect_in(source, rf"\b[cC]ommand(?!\W{{0,9}}==)\W{{1,10}}{command}\b")
    if place is None or (of_values and _MAKES_VALUES.search(all_lines_of(source)[place.file][place.line - 1])):
        return place, None
    streams = [str(each.stream) for each in _meant(event.body) if isinstance(each, Emit) and each.stream]
    calls = callers_of(place, command, lines_of(source), source.language, *streams[:1])
    first, second = [*(calls or [place]), None][:2]
    return first, second


def _command_of(event: Event) -> str:
    """The command of a message, of an irregular one what was meant, or what it spells; "" for what has none."""
    meant = next((command for each in _meant(event.body) if (command := _WRITES.get(each.__class__))), "")
    spelt = _SPELT.search(event.raw, 0, _LONGEST_SOURCE_LINE) if not meant else None
    return meant or (spelt[1].decode() if spelt else "")


def _meant(body: object) -> Sequence[object]:
    return body.salvage if isinstance(body, Malformed) else (body,)


def _placed(cause: Cause, facts: Facts, watch: Watch, source: Source) -> Cause:
    """The cause with the line of source that wrote what tells of it, where no traceback names a place."""
    event = watch.events.get(cause.seq) if cause.seq is not None else None
    if cause.place is not None or event is None:
        return cause
    text = facts.words if event.channel == "process" else ""
    if cause.id in _COMPLAINED:
        text = facts.seen.complaints.of_a_tuple or last_line(facts.seen.complaints.muttered)
    # A log behind a printed text is of another line than that.
    if _NO_SYNC in cause.rules and tells_of_trouble(facts.seen.complaints.words):
        text = facts.seen.complaints.words
    meant = () if _TEXT in cause.rules else _meant(event.body)
    logged = [each.msg for each in meant if isinstance(each, Log) and each.msg]
    if logged and (place := origin_in(source, logged[0])):
        return msgspec.structs.replace(cause, place=place)
    if event.channel == "out" and _TEXT in cause.rules:
        text = _first_line(event)
        named = ((found["file"], int(found["line"]), "", "") for found in _NAMED.finditer(text))
        if place := own(named, source.roots, None):
            return msgspec.structs.replace(cause, place=place)
    return msgspec.structs.replace(cause, place=origin_in(source, text)) if text else cause


def _first_line(event: Event) -> str:
    return decode(event.raw).lstrip().partition("\n")[0]


def met_by_the_probe(checked: Subject, session: Session, watch: Watch, last: LastWords) -> SubjectResult:
    """The result of what was met before any case, asked in a role that may not be its own, as a result to be shown."""
    kind = session.profile.kind
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
    return load_tracebacks().standing_in(decode(bytes(answer.text)), source.roots, source.language)


class _Stderr:
    def __init__(self) -> None:
        self.text = bytearray()

    def take(self, events: Iterable[Event], _: object) -> None:
        """Keep what it writes to stderr from now on."""
        for event in events:
            if event.channel == "err" and len(self.text) < STDERR_KEPT:
                self.text += event.raw


def with_code(cause: Cause, roots: Sequence[str]) -> Cause:
    """The cause with the line of source that its place names, and the file as its user would write it."""
    named = {"place": cause.place, "suspect": cause.suspect, "also": cause.also}
    read = {name: _read(place, roots) for name, place in named.items() if place is not None}
    return msgspec.structs.replace(cause, **read)


def _read(place: Place, roots: Sequence[str]) -> Place | None:
    """The place with its line; None where the file has no such line: it is one of what was made of the file."""
    for root in roots:
        path = Path(root) / place.file
        try:
            lines = source_lines(path)
        except (OSError, ValueError):
            continue
        if place.line > len(lines) > 0:
            return None
        code = place.code
        if not code and 0 < place.line <= len(lines):
            code = lines[place.line - 1].strip()[:_LONGEST_SOURCE_LINE]
        here = Path.cwd()
        file = str(path.relative_to(here)) if path.is_relative_to(here) else place.file
        return msgspec.structs.replace(place, file=file, code=code)
    return place
