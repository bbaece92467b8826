"""Storm's ShellBolt: tuples go out as they come, answers are taken whenever they come (``ShellBolt``)."""

from __future__ import annotations

import random
from itertools import islice
from typing import TYPE_CHECKING

from multilang_cli.host.session import Session
from multilang_cli.protocol.messages import (
    DEFAULT_STREAM,
    HEARTBEAT_STREAM,
    SYSTEM_COMPONENT,
    SYSTEM_TASK,
    TICK_STREAM,
    Emit,
    Json,
    Sync,
    TupleMsg,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from multilang_cli.host.process import ComponentProcess
    from multilang_cli.host.pump import Sink
    from multilang_cli.protocol.conversation import Conversation
    from multilang_cli.protocol.events import Event
    from multilang_cli.protocol.messages import Message


class ShellBolt(Session):
    """Plays ShellBolt to a bolt.

    `timer`: seconds between heartbeats sent by the clock, as Storm does every second; 0: only when asked. Ids are random
    signed 64-bit integers as strings, made from `seed`.
    """

    def __init__(
        self,
        process: ComponentProcess,
        judge: Conversation,
        sinks: Iterable[Sink] = (),
        *,
        timer: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__(process, judge, sinks)
        self.emits: list[Emit] = []
        self.keep_emits = True
        self.syncs = 0
        self._timer = timer
        self._next_beat = 0.0
        self._bits = random.Random(seed).getrandbits  # noqa: S311 (ids need no secrecy)

    def new_id(self) -> str:
        """A tuple id as ShellBolt makes them (``MessageId.generateId``)."""
        return str(self._bits(64) - 2**63)

    def send(self, values: list[Json], comp: str = "source", stream: str = DEFAULT_STREAM, task: int = 2) -> str:
        """Queue a tuple; returns its id."""
        message = TupleMsg(self.new_id(), comp, stream, task, values)
        self.say(message)
        return message.id

    def tick(self, seconds: int = 1) -> str:
        """Queue a tick tuple, to be settled like any other; returns its id."""
        return self.send([seconds], SYSTEM_COMPONENT, TICK_STREAM, SYSTEM_TASK)

    def heartbeat(self) -> None:
        """Queue a heartbeat: ahead of all tuples since Storm 1.0."""
        message = TupleMsg(self.new_id(), None, HEARTBEAT_STREAM, SYSTEM_TASK, [])
        if self.version.task_ids == "overtake":
            self.say_first(message)
        else:
            self.say(message)

    @property
    def emitted(self) -> bool:
        """True if the component has emitted anything that was kept."""
        return bool(self.emits)

    def heard(self, event: Event, message: Message) -> None:
        """Answer emits with task ids; count syncs."""
        del event
        if isinstance(message, Emit):
            if self.keep_emits:
                self.emits.append(message)
            if message.wants_task_ids:
                self.answer_emit(message)
        elif isinstance(message, Sync):
            self.syncs += 1

    def pump(self, timeout: float) -> None:
        """One round of reading and writing; with a timer, heartbeats when they are due, the first a period after the pid."""
        if self._timer and not self.judge.expecting_pid:
            if not self._next_beat:
                self._next_beat = self.now + self._timer
            elif self.now >= self._next_beat:
                self._next_beat = self.now + self._timer
                self.heartbeat()
            timeout = min(timeout, max(0.0, self._next_beat - self.now))
        super().pump(timeout)

    def settle_all(self, limit: float) -> bool:
        """Wait until no tuple is open. False, with a finding, if `limit` seconds pass first."""
        return self.wait(lambda: not self.judge.state.open and self.idle, limit, "settle")

    def beat(self, limit: float) -> bool:
        """Send a heartbeat and wait for its sync. False, with a finding, if `limit` seconds pass first."""
        self.heartbeat()
        return self.wait(lambda: self.idle and not self.judge.state.heartbeats, limit, "heartbeat")

    def drive(self, tuples: Iterable[list[Json]], window: int, limit: float) -> bool:
        """Send many tuples, at most `window` of them open at a time, and wait until all are settled.

        `limit`: seconds without any progress after which it gives up.
        """
        source: Iterator[list[Json]] = iter(tuples)
        is_open = self.judge.state.open
        exhausted = False
        while not exhausted:
            room = window - len(is_open) - self.queued
            sent = 0
            for values in islice(source, max(0, room)):
                self.send(values)
                sent += 1
            exhausted = room > 0 and sent < room
            goal = max(0, window - window // 4)
            if not self.wait(lambda: len(is_open) + self.queued <= goal, limit, "settle"):
                return False
        return self.settle_all(limit)
