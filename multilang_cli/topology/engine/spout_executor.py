"""A spout's executor: what it tells its tasks, and when (``SpoutExecutor``). Pure: the time is handed in."""

from __future__ import annotations

from collections import deque
from itertools import islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.acking.pending import SpoutPending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.messages import Json


_OUTCOMES = frozenset({"ack", "fail"})
TOLD_TOGETHER = 128
"""Acks and fails that are told one after the other, before anything else is done."""
SLOW, SLOW_AT_MOST = 0.001, 0.25
"""Seconds for which nobody waits for a spout that did not answer at once: the first time, and at most."""


class SpoutTaskCommand(NamedTuple):
    """Command to a spout's task; `id` is a message id, kept with its JSON type."""

    task: int
    what: str
    id: Json = ""


class SpoutExecutor:
    """The tasks of one executor, of which one is asked at a time, as one thread does it.

    `limit`: ``topology.max.spout.pending``, for each task; 0 for none. `sleep`: seconds after a round of next in which
    nobody emitted anything. `pending`: what is waited for; `emissions`: the number of each such emission, by root id.
    `active`: what is wanted; it is told before the next round. `idle_since`: when it was first asked in vain, None if
    it emitted since, or is told of an ack or a fail. `rotations`: how often what waits is rotated each message timeout.
    `slow_until`: it took long to answer, and until then nobody waits for it: twice as long each time, for one that is
    late now and then was not run.
    """

    def __init__(self, tasks: Sequence[int], limit: int = 0, sleep: float = 0.001, rotations: int = 1) -> None:
        self.tasks = tuple(tasks)
        self.rotations = rotations
        self.limit = limit * len(self.tasks)
        self.sleep = sleep
        self.active = False
        self.reset()

    def reset(self) -> None:
        """Its worker is gone, with all it knew; it is started anew."""
        self.pending = SpoutPending()
        self.emissions: dict[int, int] = {}
        self.ready: set[int] = set()
        self.busy: int | None = None
        self.idle_since: float | None = None
        self.slow_until = self._slow_for = 0.0
        self._to_tell: deque[SpoutTaskCommand] = deque()
        self._round: deque[int] = deque()
        self._told_active = False
        self._emitted = False
        self._next_round = 0.0

    @property
    def quiet(self) -> bool:
        """True if nothing is under way: no command, no answer, nothing that is waited for."""
        return self.busy is None and not self._to_tell and not len(self.pending.waiting)

    @property
    def inactive(self) -> bool:
        """True if every task was told that it is not active, or never was."""
        return not self._told_active and self.busy is None and not self._to_tell

    def tell(self, command: SpoutTaskCommand) -> None:
        """Have a task told something as soon as its executor comes to it: asked then, it may emit again."""
        self._to_tell.append(command)
        self.idle_since = None

    def emitted(self) -> None:
        """One of the tasks emitted."""
        self._emitted = True
        self.idle_since = None

    def next_command(self, t: float, *, held_back: bool = False) -> SpoutTaskCommand | None:
        """The next command and its task; None if there is nothing to say, or an answer to wait for.

        Within a round every task is asked for the next tuple; between rounds come acks and fails, activation first.
        `held_back`: the queues behind are full.
        """
        if self.busy is not None or len(self.ready) < len(self.tasks):
            return None
        if self._round:
            return self._say(SpoutTaskCommand(self._round.popleft(), "next"))
        if self._told_active != self.active:
            self._told_active = self.active
            what = "activate" if self.active else "deactivate"
            self._to_tell.extendleft(SpoutTaskCommand(task, what) for task in reversed(self.tasks))
        if self._to_tell:
            return self._say(self._to_tell.popleft())
        if not self.active or held_back or t < self._next_round or self.pending.full(self.limit):
            return None
        self._emitted = False
        self._round.extend(self.tasks)
        return self._say(SpoutTaskCommand(self._round.popleft(), "next"))

    def next_outcomes(self) -> list[SpoutTaskCommand]:
        """The acks and fails that come next, all for one task, whatever it answers; `told_outcomes` takes them away."""
        to_tell = self._to_tell
        if self.busy is not None or self._round or not to_tell or self._told_active != self.active:
            return []
        task = to_tell[0].task if len(self.ready) == len(self.tasks) else None
        same = takewhile(lambda each: each.task == task and each.what in _OUTCOMES, to_tell)
        return list(islice(same, TOLD_TOGETHER))

    def told_outcomes(self, count: int) -> None:
        """So many of `next_outcomes` were told; the last is not answered yet."""
        for _ in range(count):
            self._say(self._to_tell.popleft())

    def _say(self, command: SpoutTaskCommand) -> SpoutTaskCommand:
        self.busy = command.task
        self._asked_next = command.what == "next"
        return command

    _asked_next = False

    def synced(self, t: float) -> None:
        """The task that was told something has answered."""
        self.busy = None
        if self._asked_next and not self._round and not self._emitted:
            self._next_round = t + self.sleep
            if self.idle_since is None and not self._to_tell:
                self.idle_since = t

    def answered(self, t: float, *, at_once: bool) -> None:
        """A task was waited for, and has answered `at_once` or not yet."""
        self._slow_for = 0.0 if at_once else min(SLOW_AT_MOST, 2 * self._slow_for or SLOW)
        self.slow_until = t + self._slow_for

    def wakes(self, most: float) -> float:
        """When the next round may begin, in seconds of the run; `most` if that is not a matter of time."""
        if self.busy is not None or not self.active or self.pending.full(self.limit):
            return most
        return min(most, self._next_round)
