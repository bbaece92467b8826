"""Storm's ShellBolt: tuples go out as they come, answers are taken whenever they come (``ShellBolt``)."""

from __future__ import annotations

import random
from itertools import cycle, islice
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.acking.ids import tuple_id, tuple_ids
from multilang_cli.driver.pump import Pump
from multilang_cli.driver.script import Script
from multilang_cli.driver.session import FULL, POLL_INTERVAL, Session
from multilang_cli.driver.shell.collectors import KeptEmits
from multilang_cli.driver.waits.starving import OwnTime
from multilang_cli.protocol.wire.context import SOURCE
from multilang_cli.protocol.words.messages import (
    DEFAULT_STREAM,
    HEARTBEAT_STREAM,
    MAX_BOLT_PENDING,
    SYSTEM_COMPONENT,
    SYSTEM_TASK,
    TICK_STREAM,
    Emit,
    Json,
    Sync,
    TupleMsg,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.process import ComponentProcess
    from multilang_cli.driver.script import WaitingFor
    from multilang_cli.driver.shell.collectors import BoltOutputCollector
    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.wire.batches import Batch


ELSEWHERE = 2
"""The task of a component of which the context knows nothing."""
ANSWERS = 0.5
"""Seconds for which a heartbeat may be under way that was sent right before a limit ran out."""
TICKS_AT_REST = 3
"""Ticks after which a library's testee that is at rest will do nothing more."""


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


class ShellBolt(Script):
    """Plays ShellBolt to a bolt, in a `session`. What it emits goes to `collector`, without one to `kept`.

    `timer` and `ticks`: seconds between heartbeats, and between tick tuples, sent by the clock from the pid on, as
    Storm does; 0: only when asked. `max_pending`: tuples that may wait to be written, None for any number. Ids are
    random signed 64-bit integers as strings, made from `seed`. `syncs`: how many came. `reminders`: heartbeats that a
    bolt at rest is sent before a wait for its tuples is given up: it may settle on one. `tick_ids`: those of the ticks
    that were queued so far. `runs_on`: see `Clock`.
    """

    __slots__ = (
        "_beats",
        "_random",
        "_reminded",
        "_tasks",
        "_ticked",
        "_ticks",
        "collector",
        "handlers",
        "judge",
        "kept",
        "max_pending",
        "profile",
        "reminders",
        "session",
        "stdin",
        "syncs",
        "tick_ids",
        "version",
    )

    asks_with: WaitingFor = "heartbeat"
    given_later: frozenset[WaitingFor] = frozenset({"settle", "plan"})

    def __init__(
        self,
        process: ComponentProcess,
        judge: Conversation,
        sinks: Iterable[EventSink] = (),
        *,
        collector: BoltOutputCollector | None = None,
        timer: float = 0.0,
        ticks: float = 0.0,
        seed: int = 0,
        runs_on: bool = False,
    ) -> None:
        self.kept = KeptEmits(judge.profile)
        self.collector: BoltOutputCollector = collector or self.kept
        self.handlers = {Emit: self._heard_emit, Sync: self._heard_sync, **self.collector.handlers}
        self.session = Session(Pump(process, judge, sinks, self, runs_on=runs_on))
        self.judge, self.profile, self.version = judge, judge.profile, judge.version
        self.stdin = self.session.pump.stdin
        self.syncs = 0
        self.reminders = 0
        self.tick_ids: list[str] = []
        self._reminded = 0
        self._ticked = 0
        pending = self.profile.conf.get(MAX_BOLT_PENDING, self.version.max_pending)
        self.max_pending: int | None = pending if isinstance(pending, int) and pending > 0 else None
        self._beats = _Every(timer)
        self._ticks = _Every(ticks)
        self._random = random.Random(seed)  # noqa: S311 (ids need no secrecy)
        self._tasks = {component: task for task, component in reversed(self.profile.tasks.items())}

    # --- what it does by itself -----------------------------------------------------------------------------------

    def take(self, batch: Batch) -> bool:
        """Have the collector take all at once, if it can."""
        answers = self.collector.take(batch)
        if answers is None:
            return False
        self.stdin.answer_all(answers)
        return True

    def answer(self, emit: Emit) -> None:
        """Answer an emit that was taken while somebody else played."""
        self.stdin.answer(self.kept.route(emit))

    @property
    def last_emit(self) -> Emit | None:
        """The last emit, None if that is not known."""
        return self.collector.last_emit

    def _heard_emit(self, emit: Emit, size: int) -> None:
        self.stdin.answer(self.collector.emit(emit, size))

    def _heard_sync(self, _: Sync, __: int) -> None:
        self.syncs += 1

    def before_round(self, timeout: float) -> float:
        """Queue heartbeats and ticks by the clock, when they are due."""
        state = self.judge.state
        if not (self._beats.period or self._ticks.period) or not state.said or state.unheard:
            return timeout
        # A testee that was asked to end may hold tuples until a tick; it owes no more heartbeats.
        if self._beats.due(self.session.now) and not (state.dismissed or self._beat_waits()):
            self.heartbeat()
        if self._ticks.due(self.session.now):
            self.tick(max(1, round(self._ticks.period)))
        return self._ticks.left(self.session.now, self._beats.left(self.session.now, timeout))

    def _beat_waits(self) -> bool:
        """True if a heartbeat stands in the queue: Storm's timer only raises a flag, which holds no second one."""
        return any(message.__class__ is TupleMsg and message.is_heartbeat for message in self.stdin.queue)

    def last_chance(self, done: Callable[[], bool]) -> None:
        """Wait for the sync of a heartbeat that was sent a moment ago.

        Who works on a heartbeat when a limit runs out would be called busy, and what keeps it the rest of the time not.
        """
        beats, session = self.judge.state.heartbeats, self.session
        left = ANSWERS - (session.now - beats[0].t) if len(beats) == 1 else 0.0
        under_way = OwnTime(session.process, left)
        while len(beats) == 1 and not under_way.is_over and session.running and not done():
            session.pump.move(POLL_INTERVAL, done)

    def says_more(self) -> bool:
        """True if a tick or a heartbeat is still to come on which a bolt at rest may settle its tuples."""
        if self.tick_period:
            return not self.profile.testee or len(self.tick_ids) < self._ticked + TICKS_AT_REST
        if self._reminded < self.reminders and self.version.heartbeats and not self.judge.state.heartbeats:
            self._reminded += 1
            self.heartbeat()
            return True
        return False

    # --- what it is told to say -----------------------------------------------------------------------------------

    def new_id(self) -> str:
        """A tuple id as ShellBolt makes them (``MessageId.generateId``)."""
        return tuple_id(self._random)

    def message(self, values: list[Json], comp: str | None = None, stream: str | None = None) -> TupleMsg:
        """A tuple of the component `comp`, from a task that the context names so.

        `comp`: None for the first source of the context; `stream`: None for the usual one, if it has that.
        """
        comp, usual = self._usual(comp)
        return TupleMsg(comp, values, self._task_of(comp), usual if stream is None else stream, self.new_id())

    def _usual(self, comp: str | None = None) -> tuple[str, str]:
        """The component, the first source for None, and its usual stream, or the first if it has not that."""
        comp = next(iter(self.profile.sources), SOURCE) if comp is None else comp
        known = self.profile.sources.get(comp, {})
        return comp, DEFAULT_STREAM if DEFAULT_STREAM in known else next(iter(known), DEFAULT_STREAM)

    def send(
        self, values: list[Json], comp: str | None = None, stream: str | None = None, task: int | None = None
    ) -> str:
        """Queue a `message`; returns its id. `task`: None for the first that the context names `comp`."""
        message = self.message(values, comp, stream)
        self.session.say(message if task is None else msgspec.structs.replace(message, task=task))
        return message.id

    def _task_of(self, component: str) -> int:
        return self._tasks.get(component, ELSEWHERE)

    def send_as(self, id_: str, values: list[Json], comp: str | None = None, stream: str | None = None) -> None:
        """Queue a `message` with an id that is not drawn."""
        self.session.say(msgspec.structs.replace(self.message(values, comp, stream), id=id_))

    def tick(self, seconds: int = 1) -> str:
        """Queue a tick tuple, to be settled like any other; returns its id."""
        self.tick_ids.append(self.send([seconds], SYSTEM_COMPONENT, TICK_STREAM, SYSTEM_TASK))
        return self.tick_ids[-1]

    @property
    def tick_period(self) -> float:
        """Seconds between two ticks that are sent by the clock, 0 if none are."""
        return self._ticks.period

    def await_ticks(self, times: int, limit: float) -> bool:
        """Wait until the clock has brought so many more ticks, each within `limit` seconds; False if it has not."""
        goal = len(self.tick_ids) + times
        return self.session.wait(lambda: len(self.tick_ids) >= goal, limit, "output", lambda: len(self.tick_ids))

    def beat_message(self) -> TupleMsg:
        """A heartbeat with an id of its own."""
        return TupleMsg(None, [], SYSTEM_TASK, HEARTBEAT_STREAM, self.new_id())

    def heartbeat(self, *, ahead: bool = True) -> None:
        """Queue a heartbeat: ahead of all tuples since Storm 1.0, unless it is said to come behind those that wait."""
        message = self.beat_message()
        if self.version.task_ids == "overtake" and ahead:
            self.stdin.queue.appendleft(message)
        else:
            self.session.say(message)

    def settle_all(
        self, limit: float, left: int = 0, *, also: Callable[[], bool] = lambda: True, quietly: bool = False
    ) -> bool:
        """Wait until no more than `left` tuples are open, of those that were sent before, and `also` holds.

        Ticks that come meanwhile do not count: what is settled on a tick may have to wait for the next one itself.
        False, with a finding unless `quietly`, if `limit` seconds pass in which none is settled.
        """
        self._ticked, self._reminded = len(self.tick_ids), 0
        done = lambda: self.unsettled <= left and self.session.idle and also()  # noqa: E731 (a condition)
        return self.session.wait(done, limit, "settle", self._moves, quietly=quietly)

    def _moves(self) -> tuple[int, int]:
        """Something that changes while tuples are settled, and while the bolt reads what no pipe takes at once."""
        return self.unsettled, self.stdin.piped if len(self.stdin.buffer) > FULL else 0

    def beat(self, limit: float) -> bool:
        """Send a heartbeat and wait for its sync.

        False, with a finding, if `limit` seconds pass in which it neither answers nor settles a tuple: a bolt that
        works off what was sent before is alive, and Storm takes it so.
        """
        self.heartbeat()
        return self.wait_beat(limit)

    def wait_beat(self, limit: float) -> bool:
        """Wait until no heartbeat is unanswered that is sent now, as `beat` does; the clock sends more meanwhile."""
        asked, waiting = -1, self.judge.state.heartbeats

        def answered() -> bool:
            """True if all was written once, and every heartbeat of before is answered."""
            nonlocal asked
            if asked < 0 and self.session.idle:
                asked = self.session.pump.events.seq
            return asked >= 0 and (not waiting or waiting[0].seq >= asked)

        return self.session.wait(answered, limit, "heartbeat", lambda: self.unsettled)

    @property
    def unsettled(self) -> int:
        """The number of open tuples, without the ticks that came since it was asked to settle."""
        pending = self.judge.state.open
        return len(pending) - sum(id_ in pending for id_ in self.tick_ids[self._ticked :])

    def drive(
        self, tuples: Iterable[list[Json]], window: int, limit: float, sources: Iterable[tuple[str, str]] = ()
    ) -> bool:
        """Send many tuples, at most `window` of them open at a time, and wait until all are settled.

        No more than `max_pending` wait to be written, as in Storm. `limit`: seconds without any progress after which it
        gives up. `sources`: component and stream of each tuple, in turn; none for the first source.
        """
        source: Iterator[list[Json]] = iter(tuples)
        session, is_open, queue = self.session, self.judge.state.open, self.stdin.queue
        goal = window - window // 4
        exhausted = False
        origins = [(comp, self._task_of(comp), stream) for comp, stream in sources or [self._usual()]]
        comps, tasks, streams = map(cycle, zip(*origins, strict=True))
        while not exhausted:
            room = self._room(window)
            fresh = list(islice(source, room))
            count, ids = len(fresh), tuple_ids(self._random, len(fresh))
            queue.extend(map(TupleMsg, islice(comps, count), fresh, islice(tasks, count), islice(streams, count), ids))
            exhausted = count < room
            if not session.wait(lambda: len(is_open) + len(queue) <= goal and self._room(window) > 0, limit, "settle"):
                return False
        return self.settle_all(limit)

    def _room(self, window: int) -> int:
        """The number of tuples that may be queued now."""
        queued = len(self.stdin.queue)
        room = window - len(self.judge.state.open) - queued
        return max(0, room if self.max_pending is None else min(room, self.max_pending - queued))
