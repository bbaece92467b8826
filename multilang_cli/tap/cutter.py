"""From what passed through the tap to events: frames cut and read, facts in their place. Pure.

The same events that `run` would make of the same conversation, so that the judge can't tell them apart.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.storm.reading import read_frame, read_frames
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT, TERMINATOR, Framer
from multilang_cli.protocol.words.events import Chunk, End, Event, Exited, Fact, Gap, StdoutClosed, WriteFailed
from multilang_cli.tap import feed as tap_feed
from multilang_cli.transcript.format import decode_fact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.wire.framing import Frame
    from multilang_cli.protocol.words.events import Channel
    from multilang_cli.tap.feed import TapRecord

DEAD_WITHIN = 2.0
"""Seconds that a component with a closed stdout or stdin is given to be dead: then its end is what counts."""

_CHANNELS: tuple[Channel, Channel, Channel] = ("in", "out", "err")
"""By kind."""


class Cutter:
    """Makes events of records. `bytes` so far, by channel; `limit`: bytes that a frame may have."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.bytes: dict[str, int] = {"in": 0, "out": 0, "err": 0}
        self._streams = {tap_feed.IN: _Stream(limit), tap_feed.OUT: _Stream(limit)}
        self._expecting_pid = True
        self._seq = 0
        self._t = 0.0
        self._closed: list[tuple[float, Fact]] = []

    def take(self, record: TapRecord) -> list[Event]:
        """The events that a record completes, oldest first."""
        t = self._t = max(self._t, record.t)
        events = self._overdue(t) if self._closed else []
        if record.kind == tap_feed.FACT:
            return events + self._fact(record.data)
        channel = _CHANNELS[record.kind]
        offset = self.bytes[channel]
        self.bytes[channel] += len(record.data)
        if record.kind == tap_feed.ERR:
            return [*events, self._event("err", Chunk(len(record.data)), record.data, offset)]
        stream = self._streams[record.kind]
        frames = stream.feed(record.data)
        if not frames:
            return events
        events += self._heard(frames) if record.kind == tap_feed.OUT else self._said(frames)
        if stream.lost:
            events += self.gap("a message was longer than mlcheck keeps", channel)
        return events

    def gap(self, why: str, *channels: str) -> list[Event]:
        """Something is missing from here on, by default in both directions: each goes on with its next message."""
        for kind, stream in self._streams.items():
            if not channels or _CHANNELS[kind] in channels:
                stream.skip(self.bytes[_CHANNELS[kind]])
        return self.note_gap(why)

    def note_gap(self, why: str) -> list[Event]:
        """Something is missing in the recording, but no frame was cut by that."""
        self._expecting_pid = False
        return [self._event("control", Gap(why))]

    def note(self, fact: Fact) -> Event:
        """Something that was found out about the process now."""
        return self._event("process", fact)

    def end(self, why: str) -> list[Event]:
        """The conversation is over: what is left unfinished, and the end."""
        events = self._unfinished()
        events += [self._event("process", fact) for _, fact in self._closed]
        self._closed.clear()
        return [*events, self._event("control", End(why))]

    def _fact(self, text: bytes) -> list[Event]:
        fact = decode_fact(text)
        if isinstance(fact, Gap):
            for channel, size in json.loads(text).get("left_out", {}).items():
                self.bytes[channel] += size
            return self.gap(fact.why)
        if isinstance(fact, StdoutClosed | WriteFailed):
            self._closed.append((self._t + DEAD_WITHIN, fact))
            return []
        if isinstance(fact, Exited):
            self._closed.clear()
            return [*self._unfinished(), self._event("process", fact)]
        return [self._event("process", fact)]

    def _unfinished(self) -> list[Event]:
        """Unfinished messages of either side."""
        told, said = self._streams[tap_feed.IN].close(), self._streams[tap_feed.OUT].close()
        events = [] if told is None else [self._event("in", wire.cut(told.raw), told.raw, told.offset)]
        return events if said is None else [*events, *self._heard([said])]

    def _overdue(self, t: float) -> list[Event]:
        due = [fact for until, fact in self._closed if until <= t]
        self._closed = [each for each in self._closed if each[0] > t]
        return [self._event("process", fact) for fact in due]

    def _heard(self, frames: Sequence[Frame]) -> list[Event]:
        """The component's messages. The first is read as the pid, as in a transcript."""
        events = []
        if self._expecting_pid:
            first, frames = frames[0], frames[1:]
            self._expecting_pid = False
            events.append(self._event("out", read_frame(first, expecting_pid=True), first.raw, first.offset))
        for frame, message in zip(frames, read_frames(frames), strict=True):
            events.append(self._event("out", message, frame.raw, frame.offset))
        return events

    def _said(self, frames: Sequence[Frame]) -> list[Event]:
        """Storm's messages. One that is cut or too long is none that it could be blamed for."""
        return [
            self._event("in", wire.decode(frame.text), frame.raw, frame.offset) for frame in frames if not frame.fault
        ]

    def _event(self, channel: Channel, body: Any, raw: bytes = b"", offset: int = 0) -> Event:
        event = Event(self._seq, self._t, channel, body, raw, offset)
        self._seq += 1
        return event


class _Stream:
    """The frames of one direction. `lost`: it has come upon one that is too long; after that it must skip."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._framer = Framer(limit)
        self._tail: bytes | None = None
        self._offset = 0

    @property
    def lost(self) -> bool:
        """True if a frame was longer than the limit: what follows can't be cut into frames."""
        return self._framer.overflowed and self._tail is None

    def skip(self, offset: int) -> None:
        """Leave out everything up to the end of the frame that stands at `offset`."""
        self._tail, self._offset = b"", offset

    def feed(self, data: bytes) -> Sequence[Frame]:
        """The frames that end in `data`; none before the place from which on it is read."""
        if self._tail is None:
            return self._framer.feed(data)
        text = self._tail + data
        at = text.find(TERMINATOR)
        if at < 0:
            self._tail = text[1 - len(TERMINATOR) :]
            self._offset += len(data)
            return []
        rest = text[at + len(TERMINATOR) :]
        self._framer = Framer(self._limit, self._offset + len(data) - len(rest))
        self._tail = None
        return self._framer.feed(rest)

    def close(self) -> Frame | None:
        """Give the rest at the end; None if there is none, or if its beginning is missing."""
        return None if self._tail is not None else self._framer.close()
