"""Files of the tap: the last messages of a conversation, or all of them in parts. They may fail at any time.

Nothing here raises OSError but `reopen`: what failed is in `failed`, and recording goes on when there is room again.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.transcript.format import FRAMES
from multilang_cli.transcript.private import open_afresh, open_private
from multilang_cli.transcript.write import FLUSH_AT, TranscriptWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.tap.plan import TapPlan
    from multilang_cli.transcript.format import Header
    from multilang_cli.transcript.write import Sink

RETRY = 10.0
"""Seconds after a failure until writing is tried again."""
RING_BYTES = 64 * 1024 * 1024
"""Bytes that the ring holds at most, however many messages that are."""
RING_EVENTS = 10
"""Events that the ring holds at most, for each message that it may hold: stderr may come in small pieces."""
RING_LEAST = 2000
"""Events that even a small ring may hold: the last words of a component must not drive out its last messages."""
Snapshot = dict[str, Any] | None
"""The state of a judge; None if there is none."""
_LINE = 64
"""Bytes that a line has beside its message, about."""


class MessageRing:
    """The last messages of a conversation, written at its end.

    A second judge follows behind: it has heard what has left the ring, so its state is the one to begin with.
    """

    def __init__(self, header: Header, stem: Path, plan: TapPlan, behind: Conversation) -> None:
        self.path = stem.with_name(f"{stem.name}.ndjson")
        self.failed = ""
        self.retry_at = inf
        self.lost = 0
        self._header = header
        self._looked = 0.0
        self._looked_for = 0
        self._most = plan.ring
        self._behind: Conversation | None = behind
        self._events: deque[Event] = deque()
        self._messages = 0
        self._bytes = 0
        self._wrapped = False
        self._heard = self._said = False
        self._look()

    def take(self, events: Sequence[Event], _: Callable[[], Snapshot]) -> None:
        """Add events; the oldest give way to them."""
        self._events += events
        self._messages += sum(event.channel in FRAMES for event in events)
        self._bytes += sum(len(event.raw) for event in events)
        self._heard = self._heard or any(event.channel == "out" for event in events)
        gone = []
        while self._events and (self._is_full() or self._splits_handshake()):
            event = self._events.popleft()
            self._messages -= event.channel in FRAMES
            self._bytes -= len(event.raw)
            self._wrapped = True
            self._said = self._said or event.channel == "out"
            gone.append(event)
        if gone:
            self._follow(gone)

    def _is_full(self) -> bool:
        too_many = self._messages > self._most or len(self._events) > max(RING_LEAST, self._most * RING_EVENTS)
        return too_many or self._bytes > RING_BYTES

    def _splits_handshake(self) -> bool:
        """True if the component's first message is kept, but not what came before: it would be read as another."""
        return self._wrapped and self._heard and not self._said

    def _follow(self, gone: list[Event]) -> None:
        if self._behind is not None:
            try:
                self._behind.feed_all(gone)
            except Exception:  # noqa: BLE001 (a fault of the judge must not cost the recording)
                self._behind = None

    def reopen(self, _: Snapshot) -> None:
        """Nothing is open before the end."""

    def flush(self, t: float) -> None:
        """See from time to time whether there is room: nothing is written before the end, when nobody can be told."""
        if t >= self._looked + RETRY or self._bytes > 2 * self._looked_for + FLUSH_AT:
            self._looked = t
            self._look()

    def _look(self) -> None:
        room = self.path.with_name(f".{self.path.name}.room")
        self._looked_for = self._bytes
        try:
            with open_afresh(room, buffering=0) as file:
                file.write(b"\n")
                there = os.fstatvfs(file.fileno())
            if there.f_bavail * there.f_frsize < self._bytes + len(self._events) * _LINE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 (as if it were written)
            self.failed = ""
        except OSError as error:
            self.failed = _why(self.path, error)
        with suppress(OSError):
            room.unlink(missing_ok=True)

    def close(self, _: float) -> None:
        """Write what is kept."""
        header = self._header
        if self._wrapped:
            snapshot = self._behind.snapshot() if self._behind is not None else None
            header = msgspec.structs.replace(header, part=2, snapshot=snapshot)
        try:
            with open_private(self.path, "ab", buffering=0) as file, TranscriptWriter(file, header) as writer:
                for event in self._events:
                    writer.write(event)
            self.failed = ""
        except OSError as error:
            self.failed = _why(self.path, error)
            self.lost = len(self._events)


class Parts:
    """All messages of a conversation, in files of a bounded size and age. Each begins with the state of the judge."""

    _flush_at = FLUSH_AT

    def __init__(self, header: Header, stem: Path, plan: TapPlan) -> None:
        self.path = stem
        self._stem = stem
        self.failed = ""
        self.retry_at = 0.0
        self.lost = 0
        self._header = header
        self._plan = plan
        self._number = 0
        self._size = 0
        self._since = 0.0
        self._said = False
        self._file: Sink | None = None
        self._writer: TranscriptWriter | None = None
        try:
            self._open(None)
        except OSError as error:
            self._fail(error, 0.0)

    def take(self, events: Sequence[Event], snapshot: Callable[[], Snapshot]) -> None:
        """Add events. `snapshot`: gives the state of the judge after them, where a new part begins."""
        if not events:
            return
        if self._writer is None:
            self.lost += len(events)
            return
        t = events[-1].t
        try:
            for event in events:
                self._writer.write(event)
            self._size += sum(len(event.raw) + _LINE for event in events)
            size, age = self._plan.rotate_size, self._plan.rotate_age
            self._said = self._said or any(event.channel == "out" for event in events)
            # A first message is read as none other: it stays with the handshake.
            if self._said and ((size and self._size >= size) or (age and t - self._since >= age)):
                self._writer.close()
                self._since = t
                self._open(snapshot())
        except OSError as error:
            self.lost += len(events)
            self._fail(error, t)

    def reopen(self, snapshot: Snapshot) -> None:
        """Try again with a new part, if writing has failed. Raises OSError."""
        if self._writer is None:
            self._open(snapshot)
            self.failed = ""

    def flush(self, t: float) -> None:
        """Write what is kept in memory."""
        try:
            if self._writer is not None:
                self._writer.flush()
        except OSError as error:
            self._fail(error, t)

    def close(self, t: float) -> None:
        """Write the end."""
        try:
            if self._writer is not None:
                self._writer.close()
        except OSError as error:
            self._fail(error, t)
        self._shut()

    def _open(self, snapshot: Snapshot) -> None:
        self._shut()
        self._number += 1
        self.path = self._named(self._number)
        header = msgspec.structs.replace(self._header, part=self._number, snapshot=snapshot)
        self._file = self._new()
        try:
            self._writer = TranscriptWriter(self._file, header, flush_at=self._flush_at)
        except OSError:
            self._shut()
            raise
        self._size = 0
        if self._plan.keep and self._number > self._plan.keep:
            self._drop(self._number - self._plan.keep)

    def _new(self) -> Sink:
        sink: Sink = open_private(self.path, "ab", buffering=0)
        return sink

    def _drop(self, number: int) -> None:
        self._named(number).unlink(missing_ok=True)

    def _named(self, number: int) -> Path:
        """The file of a part: in the order of their names they can be read one after another."""
        return self._stem.with_name(f"{self._stem.name}.{number:05d}.ndjson")

    def _fail(self, error: OSError, t: float) -> None:
        self.failed, self.retry_at = _why(self.path, error), t + RETRY
        self._shut()

    def _shut(self) -> None:
        self._writer = None
        if self._file is not None:
            with suppress(OSError):
                self._file.close()


def _why(path: Path, error: OSError) -> str:
    return f"{path} can't be written: {error.strerror or error}"
