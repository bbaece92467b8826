"""The tuples of a running topology: who they go to, who has them, what becomes of them. Pure.

Nothing here waits or looks at a clock: `t`, in seconds of the run, is set by whoever calls. What happens is told event
by event, see ``history``. All messages of the ack framework are made by ``acking``.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from itertools import groupby, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

import msgspec

from multilang_cli.acking import collectors
from multilang_cli.acking.collectors import Anchored
from multilang_cli.acking.ids import acker_index, generate_id, tuple_id
from multilang_cli.acking.messages import AckAck, AckFail, AckInit
from multilang_cli.acking.pending import Outcome, WaitingTuple
from multilang_cli.protocol.wire.encoding import ENCODER, encoded
from multilang_cli.protocol.words.large import plain
from multilang_cli.protocol.words.messages import SYSTEM_COMPONENT, SYSTEM_TASK, TICK_STREAM, TupleMsg
from multilang_cli.topology.engine.logged import LoggedProblems
from multilang_cli.topology.engine.spout_executor import SpoutExecutor, SpoutTaskCommand
from multilang_cli.topology.engine.tally import Tally
from multilang_cli.topology.history import (
    AckerTold,
    Beat,
    DeadLettered,
    Delivered,
    EmissionEnded,
    Emitted,
    Lost,
    TupleSettled,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from multilang_cli.acking.ids import RandomSource
    from multilang_cli.acking.messages import AckerMessage
    from multilang_cli.protocol.words.messages import Emit
    from multilang_cli.topology.engine.acker_task import AckerTask
    from multilang_cli.topology.groupings import Outgoing
    from multilang_cli.topology.history import Happening
    from multilang_cli.topology.java.values import JavaValues

VALUES_KEPT = 256
"""Characters of an emission's values that stand in the history."""
QUEUE_CAPACITY = 32768
"""Deliveries that a task's queue holds before spouts are held back (``topology.executor.receive.buffer.size``)."""
_WHAT: dict[type, Literal["init", "ack", "fail"]] = {AckInit: "init", AckAck: "ack", AckFail: "fail"}
_encode_values, _encode_lines = ENCODER.encode, ENCODER.encode_lines


class Delivery(Anchored, kw_only=True):
    """A tuple on its way to one task, or with it. `n` and `emit`: its numbers in the history, 0 for a tick.

    `queued` and `taken`: when it was put into the task's queue, and given to its process.
    """

    n: int
    emit: int
    task: int
    message: TupleMsg
    queued: float = 0.0
    taken: float = 0.0


class Flow:
    """All tuples of one run.

    `components`: by task. `outgoing`: where a task's emits go, by stream. `ackers`: by task, in their order. `spouts`:
    the executor of each spout's task. `up`: the tasks that are there to be sent something. `dirty`: those with
    something in their queue; `full`: those whose queue is over `capacity`. `tallies`: by task. `spoken`: when something
    last went on: an emit, or an end. `ids_awaited`: the bolts' tasks that seem to say nothing before they have
    the task ids of an emit. `tell`: who is told each event; `watched`: it may act on one at once, so that what
    comes together must be taken one by one. `first_ack`: when a spout first learnt that a tuple was acked.
    `vain_since`: when the first was emitted of those that are waited for since the last ack; None if there are none.
    """

    def __init__(
        self,
        components: Mapping[int, str],
        outgoing: Mapping[int, Mapping[str, Outgoing]],
        spouts: Mapping[int, SpoutExecutor],
        ackers: Iterable[AckerTask],
        *,
        random: RandomSource,
        tell: Callable[[Happening], object],
        capacity: int = QUEUE_CAPACITY,
        java: JavaValues | None = None,
    ) -> None:
        self.t = 0.0
        self.components = components
        self.spouts = spouts
        self.ackers = {each.task: each for each in ackers}
        self.capacity = capacity
        self.up: set[int] = set()
        self.dirty: set[int] = set()
        self.full: set[int] = set()
        self.logged = LoggedProblems()
        self.tallies = {task: Tally() for task in components}
        self.spoken = 0.0
        self.ids_awaited: set[int] = set()
        self.first_ack: float | None = None
        self.vain_since: float | None = None
        self.spout_emissions = 0
        self.queues: dict[int, deque[Delivery]] = {task: deque() for task in components}
        self.open: dict[int, dict[str, Delivery]] = {task: {} for task in components}
        self._outgoing = outgoing
        self._by_place = tuple(self.ackers.values())
        self._ackers_to_run: set[int] = set()
        self._java = java
        self._random = random
        self.tell = tell
        self.watched = True
        self._emissions = 0
        self._deliveries = 0
        self._put_off: list[tuple[int, Emit, tuple[int, ...], float]] = []

    # --- emits --------------------------------------------------------------------------------------------------

    def bolt_emit(self, task: int, emits: Sequence[Emit]) -> list[tuple[int, ...]]:
        """A bolt's task emitted, so often in a row; gives the tasks that each goes to.

        Raises GroupingError where Storm's collector throws: of the emits from that one on, nothing is done.
        """
        self.catch_up()
        return self._bolt_emits(task, emits, map(partial(self._targets, task), emits), repeat(self.t))

    def bolt_answer(self, task: int, emit: Emit) -> tuple[int, ...]:
        """A bolt's task emitted, and waits for the tasks that its tuple goes to; it goes there with `catch_up`.

        Raises GroupingError where Storm's collector throws.
        """
        targets = self._targets(task, emit)
        self._put_off.append((task, emit, targets, self.t))
        return targets

    def catch_up(self) -> None:
        """Send what `bolt_answer` told of, many together: before anything else is done."""
        if not self._put_off:
            return
        now, put_off = self.t, self._put_off[:]
        self._put_off.clear()
        for task, some in groupby(put_off, itemgetter(0)):
            _, emits, targets, times = zip(*some, strict=True)
            self._bolt_emits(task, emits, targets, times)
        self.t = now

    def _bolt_emits(
        self, task: int, emits: Sequence[Emit], tasks: Iterable[tuple[int, ...]], times: Iterable[float]
    ) -> list[tuple[int, ...]]:
        known, found = self.open[task], list[tuple[int, ...]]()
        names: tuple[str, ...] | None = None
        for emit, values, targets, t in zip(emits, self._shown(emits), tasks, times, strict=False):
            self.t = t
            if emit.anchors != names:
                names = emit.anchors
                anchors = [known[each] for each in names if each in known]
                numbers = tuple([each.n for each in anchors])
            edges = collectors.edges_of(anchors, len(targets), self._random)
            self._emit(task, emit, (values, None, numbers), targets, edges)
            found.append(targets)
        return found

    def spout_emit(self, task: int, emit: Emit, *, acked_inside: bool = False) -> tuple[int, ...]:
        """A spout's task emitted; gives the tasks it goes to. Raises GroupingError where Storm's collector throws.

        `acked_inside`: this Storm acks it before the emit returns, so nobody waits for it.
        """
        self.catch_up()
        targets = self._targets(task, emit)
        values = self._shown((emit,))[0]
        executor = self.spouts[task]
        executor.emitted()
        self.spout_emissions += 1
        if emit.id is None or acked_inside or not self.ackers:
            edges = collectors.edges_of((), len(targets), self._random)
            number = self._emit(task, emit, (values, None, ()), targets, edges)
            if emit.id is not None:
                self._ended(number, Outcome("acked", 0, emit.id, task, self.t, 0.0))
            return targets
        root = generate_id(self._random)
        tuples, init = collectors.spout_emit(root, task, len(targets), self._random)
        number = self._emit(task, emit, (values, root, ()), targets, [each.edges for each in tuples])
        executor.pending.emit(root, WaitingTuple(emit.id, task, self.t))
        executor.emissions[root] = number
        if self.vain_since is None:
            self.vain_since = self.t
        self._send_to_ackers((init,))
        return targets

    def _targets(self, task: int, emit: Emit) -> tuple[int, ...]:
        outgoing = self._outgoing[task].get(emit.stream)
        if outgoing is None:
            return ()
        targets = outgoing.direct(emit.task) if emit.task else outgoing.tasks(emit.values)
        if self._java is not None:
            self._java.check(emit.values, targets)
        return targets

    def _shown(self, emits: Sequence[Emit]) -> list[str]:
        """The values of emits as the history shows them."""
        java = self._java
        given = [plain(emit.values) if java is None else java.shown(plain(emit.values)) for emit in emits]
        try:
            texts = _encode_lines(given).decode().split("\n")
        except (UnicodeEncodeError, RecursionError):
            texts = [encoded(_encode_values, each).decode() for each in given]
        return [text if len(text) <= VALUES_KEPT else text[:VALUES_KEPT] for text in texts[: len(given)]]

    # Called for every message: no keyword arguments on this path, they make a call several times slower.
    def _emit(
        self,
        task: int,
        emit: Emit,
        told: tuple[str, int | None, tuple[int, ...]],
        targets: tuple[int, ...],
        edges: Sequence[dict[int, int]],
    ) -> int:
        """Tell of an emission, and send it to its `targets`, with the `edges` for each; its number.

        `told`: the values as they are shown, root and anchors.
        """
        self._emissions = number = self._emissions + 1
        self.spoken = t = self.t
        given, stream, java = plain(emit.values), emit.stream, self._java
        self.tell(
            Emitted(
                t=t,
                n=number,
                task=task,
                stream=stream,
                values=told[0],
                message_id=emit.id if task in self.spouts else None,
                root=told[1],
                anchors=told[2],
                direct=emit.task or None,
            )
        )
        for target, each in zip(targets, edges, strict=True):
            sent = given if java is None else java.given(given, target)
            message = TupleMsg(self.components[task], sent, task, stream, tuple_id(self._random))
            self._send(number, target, message, each, False)
        self.tallies[task].emitted += 1
        return number

    def _send(self, emission: int, target: int, message: TupleMsg, edges: dict[int, int], again: bool) -> int:
        """Queue a tuple for a task, if it is there; its number. A tick is of no emission, 0, and has none."""
        number, t = 0, self.t
        if emission:
            self._deliveries = number = self._deliveries + 1
            self.tell(Delivered(t=t, n=number, emit=emission, task=target, id=message.id, edges=edges, again=again))
        if target not in self.up:
            self.tallies[target].lost += 1
            self.tell(Lost(t=t, delivery=number, edges=edges))
            return number
        queue = self.queues[target]
        queue.append(Delivery(edges, n=number, emit=emission, task=target, message=message, queued=t))
        self.tallies[target].received += 1
        self.dirty.add(target)
        if len(queue) >= self.capacity:
            self.full.add(target)
        return number

    def repeat(self, delivery: Delivery) -> int:
        """Send the same tuple to the same task once more, as a network might; the number of that delivery."""
        message = msgspec.structs.replace(delivery.message, id=tuple_id(self._random))
        return self._send(delivery.emit, delivery.task, message, dict(delivery.edges), True)

    # --- what a bolt's task is given, and what it says of it ------------------------------------------------------

    def tick(self, task: int, seconds: int) -> None:
        """Queue a tick tuple, which is nobody's emission."""
        self.catch_up()
        if task in self.up:
            message = TupleMsg(SYSTEM_COMPONENT, [seconds], SYSTEM_TASK, TICK_STREAM, tuple_id(self._random))
            self._send(0, task, message, {}, False)

    def take(self, task: int, most: int) -> list[TupleMsg]:
        """Give a bolt's process the next tuples of its queue, at most so many: they are its own from now on."""
        self.catch_up()
        queue, known, t = self.queues[task], self.open[task], self.t
        taken = []
        for _ in range(min(most, len(queue))):
            delivery = queue.popleft()
            delivery.taken = t
            known[delivery.message.id] = delivery
            taken.append(delivery.message)
        if not queue:
            self.dirty.discard(task)
        if self.full and len(queue) < max(1, self.capacity // 2):
            self.full.discard(task)
        return taken

    def settle(self, task: int, id_: str, how: Literal["ack", "fail"]) -> None:
        """A bolt's task acked or failed a tuple; nothing is done about one that it does not have."""
        self.settle_all(task, (id_,), how)

    def settle_all(self, task: int, ids: Iterable[str], how: Literal["ack", "fail"]) -> None:
        """As `settle`, for tuples that were settled one right after the other."""
        self.catch_up()
        t, known, tell, settled = self.t, self.open[task], self.tell, list[Delivery]()
        for id_ in ids:
            delivery = known.pop(id_, None)
            if delivery is not None and delivery.n:
                tell(TupleSettled(t=t, delivery=delivery.n, how=how, edges=delivery.edges))
                settled.append(delivery)
        if not settled:
            return
        self.spoken = t
        tally = self.tallies[task]
        if how == "ack":
            tally.acked += len(settled)
            tally.latency += sum([t - each.taken for each in settled])
            self._send_to_ackers(collectors.ack_all(settled))
        else:
            tally.failed += len(settled)
            self._send_to_ackers([message for each in settled for message in collectors.fail(each)])

    def beat(self, task: int, what: Literal["sent", "answered", "missed"]) -> None:
        """A bolt's task was sent a heartbeat, has answered one, or is given up for its silence."""
        self.catch_up()
        self.tell(Beat(t=self.t, task=task, what=what))

    def logged_by(self, task: int, component: str, text: str, level: int) -> None:
        """A task logged a line."""
        ids = self.logged.take(component, text, level)
        if ids and task in self.spouts:
            self.catch_up()
            self.tell(DeadLettered(t=self.t, task=task, ids=ids))

    # --- acking -------------------------------------------------------------------------------------------------

    def _send_to_ackers(self, messages: Sequence[AckerMessage]) -> None:
        places = self._by_place
        if len(places) == 1:
            self._send_to_acker(places[0], messages)
        else:
            for message in messages:
                self._send_to_acker(places[acker_index(message.root, len(places))], (message,))

    def _send_to_acker(self, acker: AckerTask, messages: Iterable[AckerMessage]) -> None:
        if acker.task in self.up:
            acker.queue.extend(messages)
            self._ackers_to_run.add(acker.task)

    def run_ackers(self) -> None:
        """Let the ackers work on their queues; spouts are told what comes of it."""
        self.catch_up()
        for task in tuple(self._ackers_to_run) if self._ackers_to_run else ():
            acker = self.ackers[task]
            if not acker.held:
                self._ackers_to_run.discard(task)
                self._run_acker(acker)

    @property
    def acking(self) -> bool:
        """True if there is something for an acker to do that is not held."""
        return any(not self.ackers[task].held for task in self._ackers_to_run)

    def _run_acker(self, acker: AckerTask) -> None:
        t, task, tell, queue = self.t, acker.task, self.tell, acker.queue
        take = acker.acker.take
        while queue:
            message = queue.popleft()
            reply, val = take(message, t)
            tell(AckerTold(t=t, task=task, what=_WHAT[message.__class__], root=message.root, val=val))
            if reply is not None and (executor := self.spouts.get(reply.task)) is not None:
                outcome = executor.pending.take(reply, t)
                if outcome is not None:
                    self._ended(executor.emissions.pop(outcome.root, 0), outcome)

    def release_acker(self, task: int) -> None:
        """Have an acker that was held go on."""
        self.ackers[task].held = False
        self._ackers_to_run.add(task)

    def rotate(self, executor: SpoutExecutor) -> None:
        """A message timeout has passed for a spout's executor: what has waited long enough fails."""
        self.catch_up()
        for _ in range(executor.rotations):
            for outcome in executor.pending.tick(self.t):
                self._ended(executor.emissions.pop(outcome.root, 0), outcome)

    def rotate_acker(self, task: int) -> None:
        """A message timeout has passed for an acker: it forgets what it has long heard nothing of."""
        self.ackers[task].acker.tick()

    def _ended(self, emission: int, outcome: Outcome) -> None:
        self.spoken = self.t
        tally = self.tallies[outcome.task]
        if outcome.kind == "acked":
            if self.first_ack is None:
                self.first_ack = self.t
            self.vain_since = None
            tally.acked += 1
            tally.latency += outcome.latency
        elif outcome.kind == "failed":
            tally.failed += 1
        else:
            tally.timed_out += 1
        root, latency = outcome.root or None, outcome.latency
        self.tell(
            EmissionEnded(t=self.t, emit=emission, root=root, task=outcome.task, how=outcome.kind, latency=latency)
        )
        if outcome.root:
            what = "ack" if outcome.kind == "acked" else "fail"
            self.spouts[outcome.task].tell(SpoutTaskCommand(outcome.task, what, outcome.message_id))

    # --- who is there -------------------------------------------------------------------------------------------

    def drop(self, tasks: Iterable[int]) -> None:
        """Tasks are gone, and all that they had with them: queues, tuples, records, what spouts waited for."""
        self.catch_up()
        for task in tasks:
            self.up.discard(task)
            self.dirty.discard(task)
            self.full.discard(task)
            gone = [*self.open[task].values(), *self.queues[task]]
            self.open[task].clear()
            self.queues[task].clear()
            for delivery in gone:
                if delivery.n:
                    self.tallies[task].lost += 1
                    self.tell(Lost(t=self.t, delivery=delivery.n, edges=delivery.edges))
            if task in self.ackers:
                self.ackers[task].reset()
                self._ackers_to_run.discard(task)
            elif task in self.spouts:
                self.spouts[task].reset()

    @property
    def waiting(self) -> int:
        """Number of emissions that spouts have pending."""
        return sum(len(each.pending.waiting) for each in set(self.spouts.values()))

    def holders(self) -> list[str]:
        """Tasks with tuples that are not settled, in words, those with the most of them first."""
        had = {task: (len(self.open[task]), len(self.queues[task])) for task in self.components}
        found = sorted((each for each in had if any(had[each])), key=lambda task: -sum(had[task]))
        told = ((f"{self.components[task]}, task {task}", *had[task]) for task in found)
        return [f"{name}: {mine:,} not settled, {queued:,} more in its queue" for name, mine, queued in told]

    @property
    def unsettled(self) -> int:
        """Number of tuples queued for a task, or with it."""
        return sum(map(len, self.queues.values())) + sum(map(len, self.open.values()))
