"""Tuple trees of a session by hand: what was said, told to the ack framework. Around the component stand Storm's own.

A bolt's tuples come from a spout, and what a bolt emits is acked by its consumer at once; what a spout emits is acked
or failed by its consumer when `ack` or `fail` says so. So a tree is complete once the component has done its part.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from multilang_cli.acking.tracker import Tracker
from multilang_cli.acking.tree import Task
from multilang_cli.host.routing import Router
from multilang_cli.protocol.messages import Ack, Emit, Fail, SpoutCommand, TupleMsg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multilang_cli.acking.collectors import Anchored
    from multilang_cli.acking.tree import Step, Tree
    from multilang_cli.protocol.events import Event
    from multilang_cli.protocol.verdicts import Profile
    from multilang_cli.workbench.repl.screen import Screen

SHOWN = 10
"""Trees that are shown where nobody chooses one."""
_ALL_BITS = 2**64 - 1
_WRONG = {"acked": "  WRONG: acked before", "failed": "  WRONG: failed before"}


class Trees:
    """The trees that `events` make, by root; `numbers`: the event that made each tuple, by its edge."""

    def __init__(self, profile: Profile, events: Iterable[Event]) -> None:
        self.profile = profile
        self.tracker = Tracker()
        self.numbers: dict[int, int] = {}
        self._own = Task(profile.component, profile.task)
        self._router = Router(profile)
        self._random = Random(0)  # noqa: S311 (edges need no secrecy, and the same session gives the same)
        self._held: dict[str, list[Anchored]] = {}
        takes: dict[type, Callable[[Event, Any], None]] = {
            TupleMsg: self._delivered,
            Emit: self._bolt_emitted if profile.kind == "bolt" else self._spout_emitted,
            Ack: self._settled,
            Fail: self._settled,
            SpoutCommand: self._told,
        }
        for event in events:
            if (take := takes.get(event.body.__class__)) is not None:
                take(event, event.body)

    def trees(self) -> list[Tree]:
        """All of them, the oldest first."""
        return list(self.tracker.trees.values())

    def _delivered(self, event: Event, message: TupleMsg) -> None:
        """A tick stands in no tree, nor does a heartbeat."""
        if message.is_heartbeat:
            return
        message_id = None if message.is_tick else message.id
        spout = Task(message.comp or "", message.task)
        _, tuples = self.tracker.spout_emit(spout, message_id, [self._own], event.t, self._random)
        self._made(event, tuples)
        self._held[message.id] = tuples

    def _bolt_emitted(self, event: Event, emit: Emit) -> None:
        anchors = [tuple_ for id_ in emit.anchors for tuple_ in self._held.get(id_, ())]
        tuples = self.tracker.bolt_emit(anchors, self._consumers(emit), event.t, self._random)
        self._made(event, tuples)
        for tuple_ in tuples:
            self.tracker.ack(tuple_, event.t)

    def _spout_emitted(self, event: Event, emit: Emit) -> None:
        consumers = self._consumers(emit)
        _, tuples = self.tracker.spout_emit(self._own, emit.id, consumers, event.t, self._random)
        self._made(event, tuples)
        if emit.id is not None:
            self._held[json.dumps(emit.id)] = tuples

    def _settled(self, event: Event, message: Ack | Fail) -> None:
        settle = self.tracker.ack if isinstance(message, Ack) else self.tracker.fail
        for tuple_ in self._held.get(message.id, ()):
            settle(tuple_, event.t)

    def _told(self, event: Event, message: SpoutCommand) -> None:
        tuples = self._held.get(json.dumps(message.id), []) if message.command in {"ack", "fail"} else []
        for tuple_ in tuples if message.command == "ack" else tuples[:1]:
            (self.tracker.ack if message.command == "ack" else self.tracker.fail)(tuple_, event.t)

    def _consumers(self, emit: Emit) -> list[Task]:
        tasks = [emit.task] if emit.task else self._router.answer(emit).tasks
        return [Task(self.profile.tasks.get(task, "task"), task) for task in tasks]

    def _made(self, event: Event, tuples: Iterable[Anchored]) -> None:
        self.numbers.update((edge, event.seq) for tuple_ in tuples for edge in tuple_.edges.values())


def show_trees(trees: Trees, screen: Screen, chosen: str = "") -> int:
    """Show the trees whose message id, or the number of whose first event, is `chosen`, else the latest; how many."""
    found = [tree for tree in trees.trees() if not chosen or chosen in _names(tree, trees.numbers)]
    for tree in found[-SHOWN:]:
        ended = tree.outcome
        how = f"{ended.kind} after {ended.latency:.3f} s" if ended else f"{len(tree.open())} tuples open"
        screen.line(f"{tree.spout.component} emitted {json.dumps(tree.message_id)}: {how}", "note")
        for step in tree.steps:
            screen.line(_told_of(step, tree, trees.numbers), "wrong" if step.before != "open" else "", lead="  ")
    if len(found) > SHOWN:
        screen.line(f"and {len(found) - SHOWN} before; `tree NUMBER` shows one", "dim")
    return len(found)


def _names(tree: Tree, numbers: dict[int, int]) -> set[str]:
    first = next(iter(tree.nodes), 0)
    return {json.dumps(tree.message_id), str(tree.message_id), str(numbers.get(first, ""))}


def _told_of(step: Step, tree: Tree, numbers: dict[int, int]) -> str:
    """A step in a line: when, what, to which message; what was XORed, and the acker's ack val after it."""
    node = tree.nodes.get(step.edge)
    verb = "to" if step.what == "emit" else "by"
    who = f"{numbers.get(step.edge, '')} {verb} {node.holder.component}" if node else ""
    lead = f"{step.t:8.3f}s {step.what:5} {who:12} "
    if step.what == "emit":
        rest = f"edge {_hex(step.edge)}"
    elif step.what == "fail":
        rest = "the tree fails"
    else:
        rest = f"XOR  {_hex(step.sent):16}  ack val {_hex(step.acker_val)}"
    return f"{lead}{rest}{_WRONG.get(step.before, '')}"


def _hex(value: int) -> str:
    return f"{value & _ALL_BITS:016x}" if value else "0"
