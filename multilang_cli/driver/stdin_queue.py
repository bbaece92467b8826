"""The queue before a component's stdin: what Storm has to say, in its order, encoded as far ahead as is allowed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from multilang_cli.driver.pieces import Pieces
from multilang_cli.driver.shell.routing import NONE
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.batches import Batch
from multilang_cli.protocol.words.events import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from multilang_cli.protocol.words.messages import FromStorm, Malformed, TaskIds
    from multilang_cli.protocol.words.verdicts import StormVersion

ENCODED_TOGETHER = 4
"""Messages from which on encoding them together pays."""
BACKLOG = 64 * 1024
"""Bytes that are put into the write buffer ahead of the pipe: what task ids and heartbeats can't overtake any more."""
WRITTEN_AT_A_TIME = 512
"""Messages that are put into the write buffer at a time, at most."""


class StdinQueue:
    """Messages that are queued, and bytes that are encoded and not yet in the pipe. No process is known here.

    `queue`: what is to be said; `answers`: the task ids that overtake it, since Storm 1.0 those of bolts (STORM-756).
    `buffer`: the bytes; `written`: how many there were in all. `pieces`: how they are cut. `hold_task_ids` keeps task
    ids back until `release_task_ids`; `no_task_ids` answers emits with an empty list.
    """

    __slots__ = (
        "_frame_size",
        "_held",
        "_replies",
        "_version",
        "answers",
        "buffer",
        "hold_task_ids",
        "no_task_ids",
        "pieces",
        "queue",
        "written",
    )

    def __init__(self, version: StormVersion, *, overtaken: bool) -> None:
        self.queue: deque[FromStorm] = deque()
        self.answers: deque[FromStorm] = deque()
        self.buffer = bytearray()
        self.written = 0
        self.pieces = Pieces()
        self.hold_task_ids = False
        self.no_task_ids = False
        self._version = version
        self._replies = self.answers if overtaken else self.queue
        self._held: deque[FromStorm] = deque()
        self._frame_size = 1

    @property
    def idle(self) -> bool:
        """True if nothing is queued."""
        return not (self.queue or self.answers)

    @property
    def unwritten(self) -> int:
        """Messages and bytes that the pipe has not taken yet."""
        return len(self.queue) + len(self.answers) + len(self.buffer)

    @property
    def piped(self) -> int:
        """Bytes that the pipe has taken so far."""
        return self.written - len(self.buffer)

    @property
    def held(self) -> int:
        """The number of replies with task ids that are kept back."""
        return len(self._held)

    def answer(self, reply: TaskIds | None) -> None:
        """Queue the task ids of an emit, if it has some."""
        if reply is not None:
            self.answer_all([reply])

    def answer_all(self, replies: Sequence[TaskIds]) -> None:
        """Queue the task ids of many emits."""
        queue = self._held if self.hold_task_ids else self._replies
        queue.extend([NONE] * len(replies) if self.no_task_ids else replies)

    def answer_held(self, reply: TaskIds) -> bool:
        """Answer the oldest emit whose task ids are held back with others; False if there is none."""
        if not self._held:
            return False
        self._held.popleft()
        self._replies.append(reply)
        return True

    def release_task_ids(self) -> None:
        """Send the task ids that were held back, and hold no more."""
        self.hold_task_ids = False
        self._replies.extend(self._held)
        self._held.clear()

    def drop(self) -> None:
        """Forget what is queued: nobody will read it."""
        self.queue.clear()
        self.answers.clear()

    # --- encoding -----------------------------------------------------------------------------------------------

    def fill(self, seq: int, now: float) -> Iterator[Sequence[Event]]:
        """Put messages into the buffer, task ids first; their events, those that were put one by one together.

        `seq`: the number of the next event; `now`: seconds of the conversation.
        """
        alone: list[Event] = []
        while len(self.buffer) < BACKLOG and (source := self.answers or self.queue):
            if len(source) < ENCODED_TOGETHER or self.pieces.to_cut is not None:
                alone.append(self.put(source.popleft(), seq, now))
                seq += 1
                continue
            messages = self._next_of(source)
            if data := wire.encode_together(messages, self._version):
                if alone:
                    yield alone
                    alone = []
                yield self._put_together(messages, data, seq, now)
            else:
                alone += [self.put(message, at, now) for at, message in enumerate(messages, seq)]
            seq += len(messages)
        if alone:
            yield alone

    def _next_of(self, source: deque[FromStorm]) -> list[FromStorm]:
        """The next messages of a queue, which are put together: of large ones few, as copies are made on the way."""
        size = max(self._frame_size, len(wire.encode(source[0], self._version)))
        room = max(1, min(WRITTEN_AT_A_TIME, (BACKLOG - len(self.buffer)) // size))
        if room >= len(source):
            messages = list(source)
            source.clear()
        else:
            messages = [source.popleft() for _ in range(room)]
        return messages

    def put(self, message: FromStorm, seq: int, now: float) -> Event:
        """Put a message into the buffer; its event."""
        raw = wire.encode(message, self._version)
        self.pieces.mark(message, seq, self.written, len(raw))
        self.buffer += raw
        return self.sent(message, raw, seq, now)

    def sent(self, message: FromStorm | Malformed, raw: bytes, seq: int, now: float) -> Event:
        """The event of a message whose bytes go into the pipe."""
        event = Event(seq, now, "in", message, raw, self.written)
        self.written += len(raw)
        return event

    def put_raw(self, said: Iterable[tuple[FromStorm | Malformed, bytes]], seq: int, now: float) -> list[Event]:
        """Put messages with bytes of their own behind what is in the buffer; nothing else may be queued."""
        events = []
        for at, (message, raw) in enumerate(said, seq):
            self.buffer += raw
            events.append(self.sent(message, raw, at, now))
        return events

    def taken(self, seq: int, now: float) -> Batch:
        """Take all that is queued, for whoever writes its bytes himself; nothing else may be in the buffer."""
        messages = list(self.queue)
        self.queue.clear()
        data = b"".join([wire.encode(each, self._version) for each in messages])
        batch = Batch(seq, now, "in", messages, data=data, offset=self.written)
        self.written += len(data)
        return batch

    def _put_together(self, messages: list[FromStorm], data: bytes, seq: int, now: float) -> Batch:
        batch = Batch(seq, now, "in", messages, data=data, offset=self.written)
        self.buffer += data
        self._frame_size = len(data) // len(messages)
        self.pieces.mark_all(seq, len(messages))
        self.written += len(data)
        return batch
