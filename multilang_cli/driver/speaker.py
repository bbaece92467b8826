"""Storm's side of one pipe: what is to be said is queued, encoded, judged and written, as far as the pipe takes it."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Protocol

from multilang_cli.driver.clock import Clock
from multilang_cli.driver.launch import readable
from multilang_cli.driver.process import BrokenStdin, ComponentProcess
from multilang_cli.driver.routing import NONE, Router
from multilang_cli.driver.waits import waiting
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.batches import Batch
from multilang_cli.protocol.words.events import Event, Exited, Fact, Started, WriteFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.words.events import Channel
    from multilang_cli.protocol.words.messages import Emit, FromStorm, Malformed, TaskIds
    from multilang_cli.protocol.words.verdicts import Finding

ENCODED_TOGETHER = 4
"""Messages from which on encoding them together pays."""
BACKLOG = 64 * 1024
"""Bytes that are put into the write buffer ahead of the pipe: what task ids and heartbeats can't overtake any more."""
WRITTEN_AT_A_TIME = 512
"""Messages that are put into the write buffer at a time, at most."""
EMPTY = 0.1
"""Seconds of an empty stdin that count as waiting for more, where nobody is seen to: who polls it sleeps in between."""
MOST_FINDINGS = 10_000
"""Findings after which a component is not listened to any longer."""
EDGE = 64
"""Bytes at both ends of a message that are written in the smallest pieces."""
WOKEN = 0.1
"""Seconds that it costs a component at most to be woken for a piece: what takes longer is work of its own."""
BULK = 61
"""Bytes of a piece in between: no multiple of what characters, words and blocks are long."""


class EventSink(Protocol):
    """Something that wants every event as it happens: a recorder, a display."""

    def take(self, events: Sequence[Event], findings: Sequence[Finding], /) -> None:
        """Take events that were judged together, and what was found in them. A finding's `seq` says in which."""


class Speaker:
    """Speaks to a running component, and tells its judge; `Pump` listens as well.

    `findings` so far, `sinks` that see every event. `hold_task_ids` keeps task ids back until `release_task_ids`;
    `no_task_ids` answers emits with an empty list. `piece`: write so many bytes at a time, more in the plain middle of
    a long message, waiting until they are read (0: as fast as it goes). `pieced`: the messages, by seq, that were
    written in parts.
    `flooded`: so much is wrong that more says nothing new. `deserted`: it lives, and nobody reads its stdin: Storm's
    next write fails, and the worker dies.
    """

    __slots__ = (
        "_answers",
        "_buffer",
        "_closing",
        "_cut",
        "_emptied",
        "_exit",
        "_frame_size",
        "_held",
        "_kept",
        "_pieced_at",
        "_queue",
        "_replies",
        "_router",
        "_seq",
        "_sinks",
        "_to_cut",
        "_written",
        "clock",
        "deserted",
        "findings",
        "flooded",
        "hold_task_ids",
        "judge",
        "no_task_ids",
        "piece",
        "pieced",
        "process",
        "profile",
        "version",
    )

    def __init__(self, process: ComponentProcess, judge: Conversation, sinks: Iterable[EventSink] = ()) -> None:
        self.process = process
        self.judge = judge
        self.profile = judge.profile
        self.version = judge.version
        self.findings: list[Finding] = []
        self.hold_task_ids = False
        self.no_task_ids = False
        self.piece = 0
        self.pieced: set[int] = set()
        self.flooded = False
        self.deserted = False
        self._sinks = tuple(sinks)
        self._router = Router(self.profile)
        self._queue: deque[FromStorm] = deque()
        self._answers: deque[FromStorm] = deque()
        self._replies = self._answers if self.version.task_ids == "overtake" else self._queue
        self._held: deque[FromStorm] = deque()
        self._buffer = bytearray()
        self._written = 0
        self._to_cut: tuple[type[FromStorm], int] | None = None
        self._cut: int | None = None
        self._emptied: float | None = None
        self._pieced_at: float | None = None
        self._kept = 0.0
        self._frame_size = 1
        self._seq = 0
        self.clock = Clock()
        self._closing = False
        self._exit: Exited | None = None
        self.note("process", Started(tuple(map(readable, process.argv)), process.pid))

    # --- events -------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Seconds since the conversation began."""
        return time.monotonic() - self.clock.start

    def note(self, channel: Channel, fact: Fact, raw: bytes = b"") -> list[Finding]:
        """Something happened that is no message."""
        event = Event(self._seq, self.now, channel, fact, raw)
        self._seq += 1
        return self._happened((event,))

    def _happened(self, events: Sequence[Event]) -> list[Finding]:
        """Have events judged, many at a time: it is several times faster than one by one."""
        found = self.judge.feed_all(events)
        if found or self.findings:
            self._found(found)
        for sink in self._sinks:
            sink.take(events, found)
        return found

    def _found(self, found: Sequence[Finding]) -> None:
        """Take the findings of the last events, maybe none: called from the first finding on."""
        self.findings += found
        self.flooded = len(self.findings) >= MOST_FINDINGS

    @property
    def next_seq(self) -> int:
        """The number that the next event will have."""
        return self._seq

    @property
    def queued(self) -> int:
        """The number of messages that are not yet in the write buffer."""
        return len(self._queue)

    @property
    def idle(self) -> bool:
        """True if Storm has nothing left to say."""
        return not (self._queue or self._answers)

    @property
    def held(self) -> int:
        """The number of replies with task ids that are kept back."""
        return len(self._held)

    # --- Storm speaks -------------------------------------------------------------------------------------------

    def say(self, message: FromStorm) -> None:
        """Queue a message; it is an event when it is put into the pipe."""
        self._queue.append(message)

    def say_first(self, message: FromStorm) -> None:
        """Queue a message ahead of all others."""
        self._queue.appendleft(message)

    def say_bytes(self, said: Iterable[tuple[FromStorm | Malformed, bytes]]) -> None:
        """Write messages with bytes of their own, behind what is in the write buffer: nothing else may be queued."""
        now, seq, written = self.now, self._seq, self._written
        events = []
        for message, raw in said:
            events.append(Event(seq, now, "in", message, raw, written))
            self._buffer += raw
            seq += 1
            written += len(raw)
        self._seq, self._written = seq, written
        self._happened(events)

    def route(self, emit: Emit) -> TaskIds | None:
        """Send the tuple of an emit where it goes, if there is more than this component; the answer, None for none."""
        return self._router.answer(emit) if emit.need_task_ids and not emit.task else None

    def answer(self, reply: TaskIds | None) -> None:
        """Queue the task ids of an emit: ahead of tuples since Storm 1.0, behind them before (STORM-756)."""
        if reply is not None:
            self.answer_all([reply])

    def answer_all(self, replies: Sequence[TaskIds]) -> None:
        """Queue the task ids of many emits."""
        queue = self._held if self.hold_task_ids else self._replies
        queue.extend([NONE] * len(replies) if self.no_task_ids else replies)

    def release_task_ids(self) -> None:
        """Send the task ids that were held back, and hold no more."""
        self.hold_task_ids = False
        self._replies.extend(self._held)
        self._held.clear()

    def cut(self, kind: type[FromStorm], at: int) -> None:
        """Cut the next message of a kind after `at` bytes: the rest follows when those were read and more is awaited.

        Without the wait both parts would come to the component as one.
        """
        self._to_cut = (kind, at)

    def _refill(self) -> None:
        """Put messages into the write buffer, task ids first: all that were put one by one are judged together."""
        now = time.monotonic() - self.clock.start
        alone: list[Event] = []
        while len(self._buffer) < BACKLOG and (source := self._answers or self._queue):
            if len(source) < ENCODED_TOGETHER or self._to_cut is not None:
                alone.append(self._put(source.popleft(), now))
                continue
            messages = self._next_of(source)
            if data := wire.encode_together(messages, self.version):
                if alone:
                    self._happened(alone)
                    alone = []
                self._happened(self._put_together(messages, data, now))
            else:
                alone += [self._put(message, now) for message in messages]
        if alone:
            self._happened(alone)

    def _next_of(self, source: deque[FromStorm]) -> list[FromStorm]:
        """The next messages of a queue, which are put together: of large ones few, as copies are made on the way."""
        size = max(self._frame_size, len(wire.encode(source[0], self.version)))
        room = max(1, min(WRITTEN_AT_A_TIME, (BACKLOG - len(self._buffer)) // size))
        if room >= len(source):
            messages = list(source)
            source.clear()
        else:
            messages = [source.popleft() for _ in range(room)]
        return messages

    def _put(self, message: FromStorm, now: float) -> Event:
        raw = wire.encode(message, self.version)
        if self._to_cut is not None and isinstance(message, self._to_cut[0]):
            self._cut, self._to_cut = self._written + min(self._to_cut[1], len(raw) - 1), None
            self.pieced.add(self._seq)
        if self.piece:
            self.pieced.add(self._seq)
        self._buffer += raw
        return self._sent(message, raw, now)

    def _sent(self, message: FromStorm, raw: bytes, now: float) -> Event:
        """The event of a message whose bytes go into the pipe."""
        event = Event(self._seq, now, "in", message, raw, self._written)
        self._seq += 1
        self._written += len(raw)
        return event

    def _put_together(self, messages: list[FromStorm], data: bytes, now: float) -> Batch:
        batch = Batch(self._seq, now, "in", messages, data=data, offset=self._written)
        self._buffer += data
        self._frame_size = len(data) // len(messages)
        if self.piece:
            self.pieced.update(range(self._seq, self._seq + len(messages)))
        self._seq += len(messages)
        self._written += len(data)
        return batch

    def _write(self) -> bool:
        """Write what fits; False if nothing did, so that there is something to wait for."""
        data = self._buffer
        if self.piece or self._cut is not None:
            data = data[: self._part()]
            if not data:
                time.sleep(0)
                return False
        try:
            done = self.process.write(data)
        except BrokenStdin as error:
            self._give_up_stdin(str(error))
            return True
        del self._buffer[:done]
        self._pieced_at = self._pieced_at if self._buffer else None
        return done > 0

    def _give_up_stdin(self, why: str) -> None:
        """Nobody reads it any more: Storm dies of its next write, and is not heard by who lives on."""
        self._queue.clear()
        self._answers.clear()
        # What no pipe took is told as unread when it is dead.
        self._await_death()
        self._buffer.clear()
        self.note("process", WriteFailed(why))
        self.deserted = self._exit is None

    def _part(self) -> int:
        """The number of bytes that may be written now of a message in parts; 0 while one is still to be read."""
        if self.piece:
            if self.process.stdin_unread():
                return 0
            now = time.monotonic()
            self._kept += min(WOKEN, now - (self._pieced_at or now))
            self._pieced_at = now
            return self._piece()
        ahead = (self._cut or 0) - (self._written - len(self._buffer))
        if ahead > 0:
            return min(ahead, len(self._buffer))
        if not self._awaits_more():
            return 0
        self._kept += self.now - (self._emptied or self.now)
        self._cut = self._emptied = None
        return len(self._buffer)

    def _piece(self) -> int:
        """Bytes of the next piece: more in the plain middle of a long message, where each place is like the others.

        Each piece waits until the component was run, which takes long where the machine is busy.
        """
        left = len(self._buffer)
        edge = left <= EDGE or self._written - left < EDGE
        plain = not edge and self._buffer[:BULK].isascii()
        return max(self.piece, min(BULK, left - EDGE)) if plain else self.piece

    def _awaits_more(self) -> bool:
        """True if it has read the part that was written, and waits for what follows."""
        if self.process.stdin_unread():
            self._emptied = None
            return False
        now = self.now
        self._emptied = now if self._emptied is None else self._emptied
        return now - self._emptied >= EMPTY or waiting.reading(self.process)

    def _await_death(self) -> None:
        """Stdin is closed: give the process a moment to be dead, so that its true end is told."""
        raise NotImplementedError
