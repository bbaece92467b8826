"""Messages of a component in a comparable form: by the tuples they answer, not by their ids. Pure."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

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
    from collections.abc import Iterable

    from multilang_cli.protocol.words.events import Event

ASPECTS = ("emits", "settles", "syncs", "errors", "malformed", "exit", "task-ids", "logs", "metrics", "ids", "order")
"""What can be compared. task-ids: whether an emit asks for them; ids: those that a spout gives; order: of emits."""
USUAL = frozenset(ASPECTS) - {"logs", "metrics", "ids", "order"}
"""What is compared if nobody says otherwise: what others see, without what a right component may vary."""
COMPARED_OF_VALUE = 4096
"""Characters of a value that are kept to compare it: a conversation can have thousands of values of 50 MB."""
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
        return as_text(values)

    def identity(self, emit: Emit) -> str:
        """Identity of an emitted tuple: stream, task and the values that count, or those of the key."""
        if not self.key:
            return f"{emit.stream}\0{emit.task}\0{self.values(emit)}"
        chosen = [value for i, value in enumerate(_list(emit.values)) if self.is_one(emit.stream, i, self.key)]
        return f"{emit.stream}\0{emit.task}\0{as_text(chosen)}"


def _list(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]


def as_text(value: Any) -> str:
    """A JSON value as text, the same for equal values whatever the order of keys; of a long one its ends and digest."""
    text = json.dumps(value, sort_keys=True, default=str)
    if len(text) <= COMPARED_OF_VALUE:
        return text
    return f"{ends(text, SHOWN_OF_VALUE)} ({len(text):,} characters, {sha256(text.encode()).hexdigest()})"


class Said(NamedTuple):
    """One message of a component. `what`: emit, ack, fail, sync, log, error, metrics, malformed.

    `about`: the numbers of the tuples it answers or is anchored to, from 1; `turn`: the number of a spout's command,
    0 for a bolt. `body`: the text of all that is compared beside these. `fault`: the rule that its frame breaks.
    """

    event: Event
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


def said_in(events: Iterable[Event], wanted: ComparisonOptions, *, spout: bool) -> list[Said]:
    """Messages of the component in a conversation, as far as they are compared."""
    listener = _Listener(wanted, spout=spout)
    return [said for event in events for said in listener.hear(event)]


_WHAT: dict[type, tuple[str, str]] = {
    Ack: ("ack", "settles"),
    Fail: ("fail", "settles"),
    Sync: ("sync", "syncs"),
    Log: ("log", "logs"),
    Error: ("error", "errors"),
    Metrics: ("metrics", "metrics"),
    Emit: ("emit", "emits"),
}


class _Listener:
    def __init__(self, wanted: ComparisonOptions, *, spout: bool) -> None:
        self.wanted = wanted
        self.spout = spout
        self.turn = 0
        self.tuples = 0
        self.places: dict[str, str] = {}

    def hear(self, event: Event) -> list[Said]:
        """Messages of the component in an event, in words that two recordings have in common; nothing for others."""
        body = event.body
        if event.channel == "in":
            if isinstance(body, TupleMsg) and not body.is_heartbeat:
                self.tuples += 1
                self.places[body.id] = str(self.tuples)
            elif isinstance(body, SpoutCommand):
                self.turn += 1
            return []
        if event.channel != "out":
            return []
        if not isinstance(body, Malformed):
            return self._said(event, body, "")
        fault = body.kind if "malformed" in self.wanted.aspects else ""
        found = [said for message in body.salvage for said in self._said(event, message, fault)]
        if found or not fault:
            return found
        return [Said(event, "malformed", body, (), self.turn, "", "", fault)]

    def _said(self, event: Event, message: Any, fault: str) -> list[Said]:
        if isinstance(message, Pid) and not fault:
            return []
        what, aspect = _WHAT.get(message.__class__, ("pid", "malformed"))
        if aspect not in self.wanted.aspects:
            return []
        about: tuple[str, ...] = ()
        stream = body = ""
        if isinstance(message, Emit):
            about = tuple(
                sorted(
                    {self.places.get(anchor, UNKNOWN) for anchor in message.anchors},
                    key=lambda place: (len(place), place),
                )
            )
            stream, body = message.stream, self._emitted(message)
        elif isinstance(message, Ack | Fail):
            about = (self.places.get(message.id, UNKNOWN),)
        elif isinstance(message, Log | Error):
            body = as_text([message.msg, getattr(message, "level", None)])
        elif isinstance(message, Metrics):
            body = as_text([message.name, message.params])
        return [Said(event, what, message, about, self.turn if self.spout else 0, stream, body, fault)]

    def _emitted(self, emit: Emit) -> str:
        aspects = self.wanted.aspects
        asks = emit.wants_task_ids if "task-ids" in aspects else ""
        id_ = as_text(emit.id) if "ids" in aspects else emit.id is not None
        return f"{self.wanted.values(emit)}\0{emit.task}\0{asks}\0{id_}"
