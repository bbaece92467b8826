"""Lines of source that causes name: of the exception, of who wrote what is wrong, or of what looks as if it did it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.loader import load_causes, load_tracebacks
from multilang_cli.causes.callers import callers_of, handler_named, looks_for
from multilang_cli.causes.complaints import tells_of_trouble
from multilang_cli.causes.early_exits import default_exit, early_exit, end_in, keeping_exit, unflushed
from multilang_cli.causes.library_emits import emitter_of
from multilang_cli.causes.tracebacks import last_line, own
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Log, Malformed, SpoutCommand, Sync
from multilang_cli.reports.escape import decode
from multilang_cli.subject.source.lines import source_lines
from multilang_cli.subject.source.sources import all_lines_of, lines_of, origin_in, suspect_in, user_lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from multilang_cli.causes.facts import Facts, Source
    from multilang_cli.causes.model import Cause, KnownCause, Place
    from multilang_cli.protocol.words.events import Event

TEXT = "stdout-text"
"""The rule that is broken by what is no message at all."""
_HEARD = 8
"""Lines of stderr of which the origin is looked for."""
_COMPLAINED = frozenset({"logs-and-forgets"})
"""Causes whose place is where what was logged was written."""
_EXTRA = "sync-extra"
_NO_SYNC = "sync-missing"
_ENDS_AT = "ends-at-a-command"
_WRITES: dict[type, str] = {Ack: "ack", Emit: "emit", Fail: "fail", Log: "log", Sync: "sync"}
"""The command of a message."""
_SPELT = re.compile(rb'"command" ?: ?"(ack|emit|fail|log|sync)"')
"""The command of a message that can't be read as JSON, where its beginning can."""
_SETTLES = frozenset({"ack", "fail"})
"""Commands that Storm says to spouts, and that bolts alone say."""
_GIVES = (
    r"\b\w*(?i:send|write|say|tell|reply|respond|answer|settle|finish|command|cmd|message|msg)\w*\s*"
    r"(?:\([^()\"'`]*|\s)[\"'`:]{}\b[\"'`]?\s*[,)]"
)
"""A line that gives a command to a function which writes it."""
_NAMES = r"^(?!#!).*(?<![\w.-]){}(?!\()(?:(?<=[\w.-]{{15}})|(?![\w-]))"
"""A line that names a program, whole or as long as the system keeps names; its shebang does not start any."""
_NAMED = re.compile(r" in (?P<file>/\S+?) on line (?P<line>\d{1,6})\b")
"""A place as PHP names it in what it prints of an error."""
_OF_VALUES = frozenset({"decimal-value", "integer-too-big", "nested-value", "number-too-large", "values-unlike-schema"})
"""Rules that are broken by one of the values of an emit."""
_MAKES_VALUES = re.compile(r"\btuple[\"']?\s*(?:=>|[:=,])\s*(?:\[\]\w+(?:\{\})?)?[\[{(]\s*(?!\.\.\.|\*)[^\s\])}]")
"""A line that makes the list of the values."""
_LONGEST_SOURCE_LINE = 200
"""Characters of a line of source that are kept."""


def with_lines(causes: Iterable[Cause], facts: Facts, events: Mapping[int, Event], source: Source) -> tuple[Cause, ...]:
    """The causes of a conversation with the lines of `source` that they name; `events`: those that were kept of it."""
    known = {each.id: each for each in load_causes()}
    found = []
    for cause in causes:
        event = events.get(cause.seq) if cause.seq is not None else None
        placed = _placed(cause, facts, event, source)
        suspected = _suspecting(placed, known.get(cause.id), facts, event, _asked_before(cause, events))
        found.append(with_code(suspected, source.roots))
    return tuple(found)


def _placed(cause: Cause, facts: Facts, event: Event | None, source: Source) -> Cause:
    """The cause with the line of source that wrote what tells of it, where no traceback names a place."""
    if cause.place is not None or event is None:
        return cause
    text = facts.words if event.channel == "process" else ""
    if cause.id in _COMPLAINED:
        text = facts.seen.complaints.of_a_tuple or last_line(facts.seen.complaints.muttered)
    # A log behind a printed text is of another line than that.
    if _NO_SYNC in cause.rules and tells_of_trouble(facts.seen.complaints.words):
        text = facts.seen.complaints.words
    meant = () if TEXT in cause.rules else _meant(event.body)
    logged = [each.msg for each in meant if isinstance(each, Log) and each.msg]
    if logged and (place := origin_in(source, logged[0])):
        return msgspec.structs.replace(cause, place=place)
    if event.channel == "out" and TEXT in cause.rules:
        text = first_line(event)
        named = ((found["file"], int(found["line"]), "", "") for found in _NAMED.finditer(text))
        if place := own(named, source.roots, None):
            return msgspec.structs.replace(cause, place=place)
    return msgspec.structs.replace(cause, place=origin_in(source, text)) if text else cause


def _asked_before(cause: Cause, events: Mapping[int, Event]) -> str:
    """The command of Storm's behind which there is a sync too many; "" for any other cause."""
    if _EXTRA not in cause.rules or cause.seq is None:
        return ""
    before = (events[seq].body for seq in sorted(events, reverse=True) if seq < cause.seq)
    return next((body.command for body in before if isinstance(body, SpoutCommand)), "")


def _suspecting(cause: Cause, known: KnownCause | None, facts: Facts, event: Event | None, asked: str) -> Cause:
    """The cause with the only line of the source that looks as what does such things, where no place is known."""
    # Asked where it stands, it may go on behind a program that the same signal ended.
    of_child = known is not None and known.of_child and facts.seen.waits.program != ""
    by_source = known is not None and (known.by_source or of_child)
    kept = keeping_exit(known.given_back, all_lines_of(facts.source)) if known and known.given_back else None
    if kept is not None:
        return msgspec.structs.replace(cause, place=None, suspect=kept, also=cause.place)
    if cause.place is not None and not by_source:
        return cause
    suspect, also = _suspects(cause, known, facts, event, asked)
    place = None if suspect is not None and by_source else cause.place
    return msgspec.structs.replace(cause, place=place, suspect=suspect, also=cause.also if place else also)


def _suspects(
    cause: Cause, known: KnownCause | None, facts: Facts, event: Event | None, asked: str
) -> tuple[Place | None, Place | None]:
    """The line that a pattern finds, else the one that writes such a message, else the one that leaves out a sync.

    With another that belongs to it.
    """
    unanswered = facts.unanswered if _NO_SYNC in cause.rules else ""
    if cause.id == _ENDS_AT and (place := _end_at(facts)):
        return place, None
    found = _by_patterns(_patterns(cause, known, facts, unanswered), known, facts)
    if found is not None:
        exit_ = _left_by(found, unanswered, facts) if _NO_SYNC in cause.rules else None
        return (exit_, found) if exit_ else (found, None)
    if known is not None and known.of_child and (program := facts.seen.waits.program):
        return suspect_in(facts.source, _NAMES.format(re.escape(program))), None
    handler = handler_named(unanswered, user_lines_of(facts.source)) if unanswered else None
    if handler is not None and (exit_ := _left_by(handler, unanswered, facts)):
        return exit_, handler
    command = _command_of(event) if event is not None and event.channel == "out" else ""
    # Who syncs one time too many does it anywhere; a comparison writes nothing.
    # Nor does the message behind a text say who printed that.
    if event is not None and command and (command != "sync" or _EXTRA in cause.rules) and TEXT not in cause.rules:
        writers = _writer_of(event, command, asked, facts.source, of_values=not _OF_VALUES.isdisjoint(cause.rules))
        return writers if writers[0] is not None else (_emitter_of(event, facts.source), None)
    return default_exit("sync", all_lines_of(facts.source)) if unanswered else None, None


def _left_by(handler: Place, unanswered: str, facts: Facts) -> Place | None:
    """The line by which a handler is left without a sync, else that of a sync which nobody flushes."""
    lines = all_lines_of(facts.source)
    return early_exit(handler, "sync", lines) or (unflushed(unanswered, "sync", lines) if unanswered else None)


def _end_at(facts: Facts) -> Place | None:
    """The line that ends the program in the branch of the command that it ended at."""
    handler = next(filter(None, (suspect_in(facts.source, pattern) for pattern in looks_for(facts.asked))), None)
    return end_in(handler, all_lines_of(facts.source)) if handler else None


def _patterns(cause: Cause, known: KnownCause | None, facts: Facts, unanswered: str) -> Iterator[str]:
    """Patterns of lines that do such things, the surest first; of an `unanswered` command, those that look for it."""
    if cause.last:
        yield from load_tracebacks().methods_in(facts.trace, facts.source.language)
    if known is not None:
        yield from known.suspects.get(facts.source.language, ())
    if unanswered:
        yield from looks_for(unanswered)


def _by_patterns(patterns: Iterable[str], known: KnownCause | None, facts: Facts) -> Place | None:
    """The only line that one of them finds; what is seen on stderr was not written to stdout."""
    in_adapter = known is not None and known.in_adapter
    heard = {origin_in(facts.source, line) for line in facts.stderr.splitlines()[:_HEARD]}
    places = (suspect_in(facts.source, pattern, in_adapter=in_adapter) for pattern in patterns)
    return next((place for place in places if place is not None and place not in heard), None)


def _writer_of(
    event: Event, command: str, asked: str, source: Source, *, of_values: bool
) -> tuple[Place | None, Place | None]:
    """The line that writes such a message: those which call it, where it stands in a helper that writes all of them.

    A helper of another file stands beside the one that calls it.

    `asked`: the command of Storm's that it answers, if that is told; `of_values`: what is looked for is a value,
    which a helper that makes the list of them made itself.
    """
    spelt = rf"\b[cC]ommand(?!\W{{0,9}}==)\W{{1,10}}{command}\b"
    place = suspect_in(source, spelt)
    if place is None and (command not in _SETTLES or source.kind == "bolt") and not _stands_in(source, spelt):
        place = suspect_in(source, _GIVES.format(command))
    if place is None or (of_values and _MAKES_VALUES.search(all_lines_of(source)[place.file][place.line - 1])):
        return place, None
    streams = [str(each.stream) for each in _meant(event.body) if isinstance(each, Emit) and each.stream]
    own_lines, beside = lines_of(source), all_lines_of(source)
    calls = callers_of(place, command, own_lines, source.language, *streams[:1], beside=beside, within=asked)
    # A helper in a file that others share may be at fault as well.
    helper = [place] if not calls or place.file not in own_lines else []
    first, second = [*calls, *helper, None][:2]
    return first, second


def _stands_in(source: Source, pattern: str) -> bool:
    return any(re.search(pattern, line) for lines in all_lines_of(source).values() for line in lines)


def _emitter_of(event: Event, source: Source) -> Place | None:
    """The line that has a library emit, where it can be told from others that do."""
    emit = next((each for each in _meant(event.body) if isinstance(each, Emit)), None)
    return emitter_of(emit, lines_of(source), source.language) if emit is not None else None


def _command_of(event: Event) -> str:
    """The command of a message, of an irregular one what was meant, or what it spells; "" for what has none."""
    meant = next((command for each in _meant(event.body) if (command := _WRITES.get(each.__class__))), "")
    spelt = _SPELT.search(event.raw, 0, _LONGEST_SOURCE_LINE) if not meant else None
    return meant or (spelt[1].decode() if spelt else "")


def _meant(body: object) -> Sequence[object]:
    return body.salvage if isinstance(body, Malformed) else (body,)


def first_line(event: Event) -> str:
    """The first line of what it wrote."""
    return decode(event.raw).lstrip().partition("\n")[0]


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
