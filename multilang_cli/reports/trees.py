"""Tuple trees as one component shows them: what was said, told to the ack framework. Around it stand Storm's own.

A bolt's tuples come from a spout, and what a bolt emits is acked by its consumer at once; what a spout emits is acked
or failed by its consumer when `ack` or `fail` says so. So a tree is complete once the component has done its part.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from multilang_cli.acking.tracker import Tracker
from multilang_cli.acking.tree import Task
from multilang_cli.driver.shell.routing import Router
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, SpoutCommand, TupleMsg
from multilang_cli.reports.counting import counted
from multilang_cli.reports.event_sentences import lasted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multilang_cli.acking.collectors import Anchored
    from multilang_cli.acking.tree import Tree
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Profile

WRONG = {"acked": "acked before", "failed": "failed before"}
"""What is wrong with a step, by what the tuple was before."""
_ALL_BITS = 2**64 - 1


class Trees:
    """The trees that `events` make, by root; `numbers`: the event that made each tuple, by its edge."""

    def __init__(self, profile: Profile, events: Iterable[Event] = (), seed: int = 0) -> None:
        self.profile = profile
        self.tracker = Tracker()
        self.numbers: dict[int, int] = {}
        self._own = Task(profile.component, profile.task)
        self._router = Router(profile)
        self._random = Random(seed)  # noqa: S311 (edges need no secrecy, and the same conversation gives the same)
        self._held: dict[str, list[Anchored]] = {}
        self._takes: dict[type, Callable[[Event, Any], Iterable[Anchored]]] = {
            TupleMsg: self._delivered,
            Emit: self._bolt_emitted if profile.kind == "bolt" else self._spout_emitted,
            Ack: self._settled,
            Fail: self._settled,
            SpoutCommand: self._told,
        }
        for event in events:
            self.take(event)

    def trees(self) -> list[Tree]:
        """All of them, the oldest first."""
        return list(self.tracker.trees.values())

    def take(self, event: Event) -> list[Tree]:
        """Go on with the next event; gives the trees that it is about, each once."""
        take = self._takes.get(event.body.__class__)
        if take is None:
            return []
        roots = dict.fromkeys(root for tuple_ in take(event, event.body) for root in tuple_.edges)
        return [self.tracker.trees[root] for root in roots if root in self.tracker.trees]

    def _delivered(self, event: Event, message: TupleMsg) -> Iterable[Anchored]:
        """A tick stands in no tree, nor does a heartbeat."""
        if message.is_heartbeat or message.is_tick:
            return ()
        spout = Task(message.comp or "", message.task)
        _, tuples = self.tracker.spout_emit(spout, message.id, [self._own], event.t, self._random)
        self._held[message.id] = self._made(event, tuples)
        return tuples

    def _bolt_emitted(self, event: Event, emit: Emit) -> Iterable[Anchored]:
        anchors = [tuple_ for id_ in emit.anchors for tuple_ in self._held.get(id_, ())]
        tuples = self._made(event, self.tracker.bolt_emit(anchors, self._consumers(emit), event.t, self._random))
        for tuple_ in tuples:
            self.tracker.ack(tuple_, event.t)
        return tuples

    def _spout_emitted(self, event: Event, emit: Emit) -> Iterable[Anchored]:
        consumers = self._consumers(emit)
        _, tuples = self.tracker.spout_emit(self._own, emit.id, consumers, event.t, self._random)
        if emit.id is not None:
            self._held[json.dumps(emit.id)] = tuples
        return self._made(event, tuples)

    def _settled(self, event: Event, message: Ack | Fail) -> Iterable[Anchored]:
        settle = self.tracker.ack if isinstance(message, Ack) else self.tracker.fail
        tuples = self._held.get(message.id, ())
        for tuple_ in tuples:
            settle(tuple_, event.t)
        return tuples

    def _told(self, event: Event, message: SpoutCommand) -> Iterable[Anchored]:
        tuples = self._held.get(json.dumps(message.id), []) if message.command in {"ack", "fail"} else []
        for tuple_ in tuples if message.command == "ack" else tuples[:1]:
            (self.tracker.ack if message.command == "ack" else self.tracker.fail)(tuple_, event.t)
        return tuples

    def _consumers(self, emit: Emit) -> list[Task]:
        tasks = [emit.task] if emit.task else self._router.answer(emit).tasks
        return [Task(self.profile.tasks.get(task, "task"), task) for task in tasks]

    def _made(self, event: Event, tuples: list[Anchored]) -> list[Anchored]:
        self.numbers.update((edge, event.seq) for tuple_ in tuples for edge in tuple_.edges.values())
        return tuples


def hexadecimal(value: int) -> str:
    """An id or an ack val as 16 digits, "0" for zero."""
    return f"{value & _ALL_BITS:016x}" if value else "0"


def how_it_ended(tree: Tree) -> str:
    """The end of a tree: ``acked after 120 ms``, ``2 tuples open``."""
    if tree.outcome is not None:
        return f"{tree.outcome.kind} after {lasted(tree.outcome.latency)}"
    return f"{counted(len(tree.open()), 'tuple')} open"
