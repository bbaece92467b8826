"""Messages of a component in a comparable form: by the tuples they answer, not by their ids. Pure."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.messages import (
    Ack,
    Emit,
    Error,
    Fail,
    Log,
    Malformed,
    Metrics,
    Pid,
    SpoutCommand,
    Sync,
    TupleMsg,
)
from multilang_cli.protocol.words.shortening import SHOWN_OF_VALUE, ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from multilang_cli.protocol.words.events import Event

ASPECTS = ("emits", "settles", "syncs", "errors", "malformed", "exit", "task-ids", "logs", "metrics", "ids", "order")
"""What can be compared. task-ids: whether an emit asks for them; ids: those that a spout gives; order: of emits."""
USUAL = frozenset(ASPECTS) - {"logs", "metrics", "ids", "order"}
"""What is compared if nobody says otherwise: what others see, without what a right component may vary."""
COMPARED_OF_VALUE = 4096
"""Characters of a value that are kept to compare it: a conversation can have thousands of values of 50 MB."""
MOST_PLACES = 100_000
"""Tuples whose place is known, at least, and twice as many at most: older ones are unknown."""
_encode = msgspec.json.Encoder(order="sorted").encode
_PIPES = frozenset({"in", "out"})
UNKNOWN = "?"
"""Stands for a tuple that was never sent."""


class ComparisonOptions(msgspec.Struct, frozen=True):
    """Options of a comparison. `aspects`: of `ASPECTS`. `fields`: the names of a stream's values, as far as declared.

    `ignored`: values that may differ, as FIELD, INDEX, STREAM.FIELD or STREAM.INDEX (from 0). `key`: values, written
    alike, by which emits that differ in others are held against each other.
    """

    aspects: frozenset[str] = USUAL
    fields: dict[str, tuple[str, ...]] = {}
    ignored: frozenset[str] = frozenset()
    key: frozenset[str] = frozenset()

    def is_one(self, stream: str, place: int, names: frozenset[str]) -> bool:
        """True if the value at `place` of a stream is one of `names`."""
        called = {str(place), f"{stream}.{place}"}
        fields = self.fields.get(stream, ())
        if place < len(fields):
            called |= {fields[place], f"{stream}.{fields[place]}"}
        return not names.isdisjoint(called)

    def name(self, stream: str, place: int) -> str:
        """Name of a value: its field, else its index."""
        fields = self.fields.get(stream, ())
        return fields[place] if place < len(fields) else str(place)

    def values(self, emit: Emit) -> str:
        """The values that count, as text; null for those that don't."""
        values = _list(emit.values)
        if self.ignored:
            values = [None if self.is_one(emit.stream, i, self.ignored) else v for i, v in enumerate(values)]
        return _comparable(values)

    def identity(self, emit: Emit) -> str:
        """Identity of an emitted tuple: stream, task and the values that count, or those of the key."""
        if not self.key:
            return f"{emit.stream}\0{emit.task}\0{self.values(emit)}"
        chosen = [value for i, value in enumerate(_list(emit.values)) if self.is_one(emit.stream, i, self.key)]
        return f"{emit.stream}\0{emit.task}\0{_comparable(chosen)}"


def _list(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]


def _comparable(value: Any) -> str:
    """A JSON value as a text that is the same for equal values; not to be shown."""
    try:
        text = _encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return as_text(value)
    # What is no number is null for that encoder, too.
    return as_text(value) if len(text) > COMPARED_OF_VALUE or b"null" in text else text.decode()


def as_text(value: Any) -> str:
    """A JSON value as text, the same for equal values whatever the order of keys; of a long one its ends and digest."""
    text = json.dumps(value, sort_keys=True, default=str)
    if len(text) <= COMPARED_OF_VALUE:
        return text
    return f"{ends(text, SHOWN_OF_VALUE)} ({len(text):,} characters, {sha256(text.encode()).hexdigest()})"


class Said(NamedTuple):
    """One message of a component. `what`: emit, ack, fail, sync, log, error, metrics, malformed.

    `number`: its place among them, from 1; `seq`, `t`, `raw`: of its event. `about`: the numbers of the tuples it
    answers or is anchored to, from 1; `turn`: the number of a spout's command, 0 for a bolt. `body`: the text of all
    that is compared beside these. `fault`: the rule that its frame breaks.
    """

    number: int
    seq: int
    t: float
    raw: bytes
    what: str
    message: Any
    about: tuple[str, ...]
    turn: int
    stream: str
    body: str
    fault: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for messages that say the same."""
        return self.what, self.about, self.stream, self.body, self.fault


_WHAT: dict[type, tuple[str, str]] = {
    Ack: ("ack", "settles"),
    Fail: ("fail", "settles"),
    Sync: ("sync", "syncs"),
    Log: ("log", "logs"),
    Error: ("error", "errors"),
    Metrics: ("metrics", "metrics"),
    Emit: ("emit", "emits"),
}


class Listener:
    """Hears a conversation from its beginning, and tells what its component says in words that two have in common."""

    def __init__(self, wanted: ComparisonOptions, *, spout: bool) -> None:
        self._wanted = wanted
        self._spout = spout
        self._turn = self._tuples = self._number = 0
        self._places: dict[str, str] = {}
        self._before: dict[str, str] = {}
        self._compared = {kind: what for kind, (what, aspect) in _WHAT.items() if aspect in wanted.aspects}

    def hear(self, events: Sequence[Event]) -> Iterator[Said]:
        """Messages of the component in the next events, as far as they are compared."""
        compared = self._compared
        for seq, t, is_told, body, raw in _columns(events):
            if is_told:
                self._told(body)
            elif (what := compared.get(body.__class__)) is not None:
                yield self._said((seq, t, raw), what, body, "")
            elif isinstance(body, Malformed):
                for what, message, fault in self._salvaged(body):
                    yield self._said((seq, t, raw), what, message, fault)

    def _told(self, body: Any) -> None:
        if isinstance(body, TupleMsg) and not body.is_heartbeat:
            self._tuples += 1
            self._places[body.id] = str(self._tuples)
            if len(self._places) == MOST_PLACES:
                self._before, self._places = self._places, {}
        elif isinstance(body, SpoutCommand):
            self._turn += 1

    def _salvaged(self, body: Malformed) -> Sequence[tuple[str, Any, str]]:
        """Messages that could be read of a frame that is none, as far as they are compared, and the frame's fault."""
        aspects = self._wanted.aspects
        fault = body.kind if "malformed" in aspects else ""
        found = []
        for message in body.salvage:
            if fault or not isinstance(message, Pid):
                what, aspect = _WHAT.get(message.__class__, ("pid", "malformed"))
                found += [(what, message, fault)] if aspect in aspects else []
        return found if found or not fault else (("malformed", body, fault),)

    def _said(self, event: tuple[int, float, bytes], what: str, message: Any, fault: str) -> Said:
        self._number += 1
        about: tuple[str, ...] = ()
        stream = body = ""
        kind = message.__class__
        if kind is Emit:
            about = self._about(message.anchors)
            stream, body = message.stream, self._emitted(message)
        elif kind is Ack or kind is Fail:
            about = (self._place(message.id),)
        elif kind is Log or kind is Error:
            body = as_text([message.msg, getattr(message, "level", None)])
        elif kind is Metrics:
            body = as_text([message.name, message.params])
        turn = self._turn if self._spout else 0
        seq, t, raw = event
        return Said(self._number, seq, t, bytes(raw), what, message, about, turn, stream, body, fault)

    def _place(self, id_: str) -> str:
        return self._places.get(id_) or self._before.get(id_, UNKNOWN)

    def _about(self, anchors: Sequence[str]) -> tuple[str, ...]:
        if len(anchors) == 1:
            return (self._place(anchors[0]),)
        places = set(map(self._place, anchors))
        return tuple(sorted(places, key=lambda place: (len(place), place)))

    def _emitted(self, emit: Emit) -> str:
        aspects = self._wanted.aspects
        asks = emit.wants_task_ids if "task-ids" in aspects else ""
        id_ = as_text(emit.id) if "ids" in aspects else emit.id is not None
        return f"{self._wanted.values(emit)}\0{emit.task}\0{asks}\0{id_}"


def _columns(events: Sequence[Event]) -> Iterable[tuple[int, float, bool, Any, bytes]]:
    """The seq, the time, whether Storm said it, the body and the bytes of each message in `events`."""
    if isinstance(events, RecordedEvents):
        return zip(count(events.seq), events.times, events.sent, events.bodies, events.raws, strict=False)
    return ((each.seq, each.t, each.channel == "in", each.body, each.raw) for each in events if each.channel in _PIPES)
