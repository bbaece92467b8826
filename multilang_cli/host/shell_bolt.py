"""Storm's ShellBolt: tuples go out as they come, answers are taken whenever they come (``ShellBolt``)."""

from __future__ import annotations

import random
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.host.session import Session
from multilang_cli.protocol.messages import (
    DEFAULT_STREAM,
    HEARTBEAT_STREAM,
    SYSTEM_COMPONENT,
    SYSTEM_TASK,
    TICK_STREAM,
    Emit,
    Fail,
    Json,
    Sync,
    TupleMsg,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from multilang_cli.host.process import ComponentProcess
    from multilang_cli.host.pump import Sink
    from multilang_cli.protocol.conversation import Conversation
    from multilang_cli.protocol.events import Event


KEPT_EMITS = 10_000
"""Emits that are kept for whoever asks what a component emitted, the latest."""
KEPT_BYTES = 16_384
"""Bytes of an emit, beyond which its values are not kept."""
_HALF = 2**63
PENDING = "topology.shellbolt.max.pending"


def kept(event: Event, emit: Emit) -> Emit:
    """An emit as it is kept: without its values, if they are large."""
    return emit if len(event.raw) <= KEPT_BYTES else msgspec.structs.replace(emit, values=[])


class _Every:
    """Something that Storm does by the clock: due a period after it was first asked about, then each period."""

    def __init__(self, period: float) -> None:
        self.period = period
        self._next = 0.0

    def due(self, now: float) -> bool:
        """True if a period has passed, in seconds of the conversation."""
        if self.period and not self._next:
            self._next = now + self.period
        if not self.period or now < self._next:
            return False
        self._next = now + self.period
        return True

    def left(self, now: float, most: float) -> float:
        """Seconds until it is due again, at most `most`."""
        return min(most, max(0.0, self._next - now)) if self.period else most


class ShellBolt(Session):
    """Plays ShellBolt to a bolt.

    `timer` and `ticks`: seconds between heartbeats, and between tick tuples, sent by the clock from the pid on, as
    Storm does; 0: only when asked. `max_pending`: tuples that may wait to be written, None for any number. Ids are
    random signed 64-bit integers as strings, made from `seed`. `emits`: the latest; empty if `keep_emits` is False.
    """

    def __init__(
        self,
        process: ComponentProcess,
        judge: Conversation,
        sinks: Iterable[Sink] = (),
        *,
        timer: float = 0.0,
        ticks: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__(process, judge, sinks)
        self.ears = {Emit: self._heard_emit, Sync: self._heard_sync, Fail: self._heard_fail}
        self.emits: deque[Emit] = deque(maxlen=KEPT_EMITS)
        self.keep_emits = True
        self.syncs = 0
        self.fails = 0
        pending = self.profile.conf.get(PENDING, self.version.max_pending)
        self.max_pending: int | None = pending if isinstance(pending, int) and pending > 0 else None
        self._beats = _Every(timer)
        self._ticks = _Every(ticks)
        self._bits = random.Random(seed).getrandbits  # noqa: S311 (ids need no secrecy)

    def new_id(self) -> str:
        """A tuple id as ShellBolt makes them (``MessageId.generateId``)."""
        return str(self._bits(64) - _HALF)

    def send(self, values: list[Json], comp: str = "source", stream: str = DEFAULT_STREAM, task: int = 2) -> str:
        """Queue a tuple; returns its id."""
        message = TupleMsg(comp, values, task, stream, self.new_id())
        self.say(message)
        return message.id

    def send_as(self, id_: str, values: list[Json]) -> None:
        """Queue a tuple with an id that is not drawn."""
        self.say(TupleMsg("source", values, 2, DEFAULT_STREAM, id_))

    def tick(self, seconds: int = 1) -> str:
        """Queue a tick tuple, to be settled like any other; returns its id."""
        return self.send([seconds], SYSTEM_COMPONENT, TICK_STREAM, SYSTEM_TASK)

    def heartbeat(self) -> None:
        """Queue a heartbeat: ahead of all tuples since Storm 1.0."""
        message = TupleMsg(None, [], SYSTEM_TASK, HEARTBEAT_STREAM, self.new_id())
        if self.version.task_ids == "overtake":
            self.say_first(message)
        else:
            self.say(message)

    @property
    def emitted(self) -> bool:
        """True if the component has emitted anything that was kept."""
        return bool(self.emits)

    def _heard_emit(self, event: Event, emit: Emit) -> None:
        if self.keep_emits:
            self.emits.append(kept(event, emit))
        if emit.need_task_ids and not emit.task:
            self.answer_emit(emit)

    def _heard_sync(self, _: Event, __: Sync) -> None:
        self.syncs += 1

    def _heard_fail(self, _: Event, __: Fail) -> None:
        self.fails += 1

    def pump(self, timeout: float, done: Callable[[], bool] | None = None) -> None:
        """One round of reading and writing; by the clock, heartbeats and ticks when they are due."""
        if (self._beats.period or self._ticks.period) and not self.judge.expecting_pid:
            if self._beats.due(self.now):
                self.heartbeat()
            if self._ticks.due(self.now):
                self.tick(max(1, round(self._ticks.period)))
            timeout = self._ticks.left(self.now, self._beats.left(self.now, timeout))
        super().pump(timeout, done)

    def settle_all(self, limit: float, left: int = 0) -> bool:
        """Wait until no more than `left` tuples are open.

        False, with a finding, if `limit` seconds pass in which none is settled.
        """
        return self.wait(lambda: len(self.judge.state.open) <= left and self.idle, limit, "settle", self._work_left)

    def beat(self, limit: float) -> bool:
        """Send a heartbeat and wait for its sync.

        False, with a finding, if `limit` seconds pass in which it neither answers nor settles a tuple: a bolt that
        works off what was sent before is alive, and Storm takes it so.
        """
        self.heartbeat()
        return self.wait_beat(limit)

    def wait_beat(self, limit: float) -> bool:
        """Wait until no heartbeat is unanswered, as `beat` does."""
        return self.wait(lambda: self.idle and not self.judge.state.heartbeats, limit, "heartbeat", self._work_left)

    def _work_left(self) -> int:
        return len(self.judge.state.open)

    def drive(self, tuples: Iterable[list[Json]], window: int, limit: float) -> bool:
        """Send many tuples, at most `window` of them open at a time, and wait until all are settled.

        No more than `max_pending` wait to be written, as in Storm. `limit`: seconds without any progress after which it
        gives up.
        """
        source: Iterator[list[Json]] = iter(tuples)
        is_open = self.judge.state.open
        goal = window - window // 4
        exhausted = False
        say, bits = self._queue.append, self._bits
        while not exhausted:
            room = self._room(window)
            sent = 0
            for values in islice(source, room):
                say(TupleMsg("source", values, 2, DEFAULT_STREAM, str(bits(64) - _HALF)))
                sent += 1
            exhausted = sent < room
            if not self.wait(lambda: len(is_open) + self.queued <= goal and self._room(window) > 0, limit, "settle"):
                return False
        return self.settle_all(limit)

    def _room(self, window: int) -> int:
        """How many tuples may be queued now."""
        room = window - len(self.judge.state.open) - self.queued
        return max(0, room if self.max_pending is None else min(room, self.max_pending - self.queued))
