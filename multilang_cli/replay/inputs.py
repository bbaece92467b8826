"""What two components were told, held against each other while both are read. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.messages import SpoutCommand, TupleMsg
from multilang_cli.replay.said import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from multilang_cli.protocol.words.events import Event


class Inputs:
    """The tuples and commands of both, by what they say beside their ids. Task ids are answers, not input."""

    def __init__(self) -> None:
        self._counts = [0, 0]
        self._waiting: tuple[deque[Any], deque[Any]] = (deque(), deque())
        self._place = 0
        self._difference = ""

    @property
    def difference(self) -> str:
        """Where they were told different things, in a sentence; "" if they were not, once both are over."""
        then, now = self._counts
        if self._difference or then == now:
            return self._difference
        return f"the component was told {then} messages, and now {now}"

    def take(self, then: Sequence[Event], now: Sequence[Event]) -> None:
        """Go on with the next events of both. Behind the first difference nothing is looked at."""
        if self._difference:
            return
        for side, events in enumerate((then, now)):
            told = list(_told(events))
            self._counts[side] += len(told)
            self._waiting[side].extend(told)
        before, after = self._waiting
        while before and after:
            one, other = before.popleft(), after.popleft()
            self._place += 1
            if not _is_same(one, other) and (words := _words(one)) != (others := _words(other)):
                self._difference = f"message {self._place} to the component was {words} and is {others}"
                return


def _told(events: Sequence[Event]) -> Iterator[Any]:
    bodies = events.bodies if isinstance(events, RecordedEvents) else [e.body for e in events if e.channel == "in"]
    return (body for body in bodies if isinstance(body, TupleMsg | SpoutCommand))


def _is_same(one: Any, other: Any) -> bool:
    """True of what is surely told alike; equal numbers may be written differently."""
    if one.__class__ is SpoutCommand:
        return other.__class__ is SpoutCommand and bool(one.command == other.command)
    return (
        other.__class__ is TupleMsg
        and (one.stream, one.comp) == (other.stream, other.comp)
        and repr(one.values) == repr(other.values)
    )


def _words(body: Any) -> str:
    """A tuple or command as it can be compared: without its id."""
    if isinstance(body, SpoutCommand):
        return str(body.command)
    if body.is_heartbeat:
        return "a heartbeat"
    return f"a tuple {as_text(body.values)} of {body.comp}, stream {body.stream}"
