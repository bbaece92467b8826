"""The few messages of a conversation that matter for its findings, the wrong one marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.protocol.words.events import Chunk, Deadline
from multilang_cli.protocol.words.messages import (
    Ack,
    Emit,
    Error,
    Fail,
    Handshake,
    Log,
    Malformed,
    SpoutCommand,
    Sync,
    TupleMsg,
)
from multilang_cli.reports.escape import decode, decode_at
from multilang_cli.reports.message_words import text_of_fact
from multilang_cli.reports.model import ExcerptLine
from multilang_cli.transcript.joined import ChunkedText
from multilang_cli.transcript.key_block import KeylessEvents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.transcript.redact import Redactor

EVENTS_BEFORE = 3
"""Events shown before the first wrong one, and chunks of stderr."""
_SETTLES = (Ack, Fail)
_TEXTS: frozenset[type] = frozenset({Chunk, Error, Log})
"""Texts for people, which may hold a piece of a key."""
EMITS_OF_AN_ID = 2
"""Emits of the id that a spout died of that are shown, at most."""
CHUNKS_JOINED = 100
"""Chunks of stderr before the wrong event that may hold a secret together."""
EXCERPT_LINES = 12
"""Lines of an excerpt, at most."""
EXCERPT_BYTES = 400
"""Bytes of one message that are kept, at most."""


def numbered(events: Iterable[Event]) -> dict[int, Event]:
    """Events by their numbers: what is known of a message, such as a mark or a gap, may have its number too."""
    found: dict[int, Event] = {}
    for event in events:
        if event.channel != "control" or event.seq not in found:
            found[event.seq] = event
    return found


def excerpt_of(
    findings: Sequence[Finding],
    events: Mapping[int, Event],
    secrets: Redactor | None = None,
    about: int | None = None,
) -> tuple[ExcerptLine, ...]:
    """The events around the worst finding: what it refers to, what came just before, and itself, marked.

    `about`: the event that the first cause is told of; a finding there comes before all others, and where there is no
    finding at all, that event is shown. `secrets` are hidden in the bytes of an event, before they are cut.
    """
    order = {"must": 0, "should": 1, "note": 2}
    worst = min(findings, key=lambda finding: (finding.seq != about, order[finding.level], finding.seq), default=None)
    marked = worst.seq if worst is not None else about
    if marked is None:
        return ()
    wanted = {*(worst.related[:4] if worst is not None else ()), marked}
    before = sorted(seq for seq in events if seq < marked and events[seq].channel != "control")
    # A traceback may come in any number of chunks: they take no message's place.
    said = _without_beats(
        [seq for seq in before if events[seq].channel != "err"], events, every=_awaits_a_settle(marked, events)
    )
    complained = [seq for seq in before if events[seq].channel == "err"]
    named = _tuples_of(marked, events) or _tuple_at_work(marked, events) or _emits_of_the_last_id(marked, events)
    said = [seq for seq in said if not named or seq in named or not isinstance(events[seq].body, TupleMsg)]
    wanted.update(said[-EVENTS_BEFORE:], complained[-EVENTS_BEFORE:], named)
    keyless = KeylessEvents()
    texts = sorted(seq for seq, event in events.items() if event.body.__class__ in _TEXTS and seq <= marked)
    told = {seq: keyless.event(events[seq]) for seq in texts}
    shown = [told.get(seq, events[seq]) for seq in sorted(wanted) if seq in events]
    if secrets is not None:
        chunks = [events[seq] for seq in (*complained[-CHUNKS_JOINED:], marked) if seq in events]
        stderr = _stderr_without([each for each in chunks if each.channel == "err"], secrets)
        shown = [
            msgspec.structs.replace(each, raw=stderr[each.seq] if each.seq in stderr else secrets.text(each.raw))
            for each in shown
        ]
    note = worst.head if worst is not None else ""
    return tuple([_line(event, marked, note) for event in shown][-EXCERPT_LINES:])


def _stderr_without(chunks: Sequence[Event], secrets: Redactor) -> dict[int, bytes]:
    """The last chunks of stderr without secrets, which may be parted among them, by their seq."""
    joined = ChunkedText()
    return {each.seq: secrets.text(secrets.chunk(each.raw, joined)) for each in chunks}


def _tuples_of(marked: int, events: Mapping[int, Event]) -> list[int]:
    """The tuples that a message is anchored to or settles, which are shown in place of others: many came in between."""
    body = events[marked].body if marked in events else None
    meant = body.salvage if isinstance(body, Malformed) else (body,)
    ids = {id_ for each in meant if isinstance(each, Emit) for id_ in each.anchors}
    ids |= {each.id for each in meant if isinstance(each, Ack | Fail)}
    if not ids:
        return []
    given = (seq for seq, event in events.items() if isinstance(event.body, TupleMsg) and event.body.id in ids)
    return [seq for seq in given if seq < marked][:EVENTS_BEFORE]


def _tuple_at_work(marked: int, events: Mapping[int, Event]) -> list[int]:
    """The first tuple that was open when the process ended, or wrote what is no message: others may stand behind it.

    Of a process that left none open, the one that it settled last.
    """
    # Events are kept in part: what settled a tuple before a gap may not be there.
    begin = next((seq for seq in range(marked, -1, -1) if seq not in events), -1)
    told = ((seq, event.body) for seq, event in events.items() if begin < seq < marked)
    given = {seq: body for seq, body in told if isinstance(body, TupleMsg)}
    if marked not in events or not given:
        return []
    ended = events[marked].channel == "process" and not given[max(given)].stream.startswith("__")
    if not (ended or isinstance(events[marked].body, Malformed)):
        return []
    before = ((seq, event.body) for seq, event in events.items() if seq < marked)
    settled = {body.id: seq for seq, body in before if isinstance(body, _SETTLES)}
    still_open = [seq for seq, body in sorted(given.items()) if not body.is_heartbeat and body.id not in settled]
    if still_open or not ended:
        return still_open[:1]
    last = max(settled, key=settled.__getitem__, default=None)
    return [seq for seq, body in given.items() if body.id == last]


def _emits_of_the_last_id(marked: int, events: Mapping[int, Event]) -> list[int]:
    """The emits of the id that a spout was brought back when its process ended: it knew that once."""
    if marked not in events or events[marked].channel != "process":
        return []
    sent = [(seq, event.body) for seq, event in events.items() if seq < marked and event.channel == "in"]
    _, last = max(sent, default=(0, None), key=lambda each: each[0])
    if not isinstance(last, SpoutCommand) or last.command not in {"ack", "fail"}:
        return []
    emits = ((seq, event.body) for seq, event in sorted(events.items()) if seq < marked)
    return [seq for seq, body in emits if isinstance(body, Emit) and body.id == last.id][-EMITS_OF_AN_ID:]


def _awaits_a_settle(marked: int, events: Mapping[int, Event]) -> bool:
    body = events[marked].body if marked in events else None
    return isinstance(body, Deadline) and body.waiting_for == "settle"


def _without_beats(said: list[int], events: Mapping[int, Event], *, every: bool) -> list[int]:
    """All but the heartbeats before the last one and their answers: they come each second, whatever else goes on.

    `every`: without the last one too, if it was answered.
    """
    beats = [n for n, seq in enumerate(said) if _is_heartbeat(events[seq])]
    earlier = set(beats[:-1])
    answers = {n + 1 for n in beats if n + 1 < len(said) and isinstance(events[said[n + 1]].body, Sync)}
    if every and beats and beats[-1] + 1 in answers:
        earlier.add(beats[-1])
    answers &= {n + 1 for n in earlier}
    return [seq for n, seq in enumerate(said) if n not in earlier | answers]


def _is_heartbeat(event: Event) -> bool:
    return isinstance(event.body, TupleMsg) and event.body.is_heartbeat


def _line(event: Event, about: int, note: str) -> ExcerptLine:
    marked = event.seq == about
    text, at = _text(event), None
    if marked and isinstance(event.body, Malformed) and event.body.at < EXCERPT_BYTES:
        text, at = decode_at(frame_text(event.raw)[:EXCERPT_BYTES], event.body.at)
    return ExcerptLine(
        seq=event.seq,
        t=round(event.t, 6),
        channel=event.channel,
        text=text,
        mark=marked,
        note=note if marked else "",
        at=at,
    )


def _text(event: Event) -> str:
    if isinstance(event.body, Handshake):
        return f'{{"pidDir": ..., "conf": {{... {len(event.body.conf)} keys}}, "context": {{...}}}}'
    if event.channel in {"in", "out"}:
        return decode(frame_text(event.raw)[:EXCERPT_BYTES])
    if isinstance(event.body, Chunk):
        return decode(event.raw[:EXCERPT_BYTES])
    return text_of_fact(event.body, EXCERPT_BYTES)
