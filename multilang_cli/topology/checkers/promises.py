"""Checks of the processing guarantee that a topology states: anchors, message ids, and nothing emitted twice."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.topology.checkers.checker import Checker, CheckResult, RunFacts
from multilang_cli.topology.history import Emitted
from multilang_cli.topology.model import GUARANTEE, UNANCHORED

if TYPE_CHECKING:
    from multilang_cli.topology.history import Delivered, Died, EmissionEnded, Lost, TupleSettled


class _Emits(msgspec.Struct):
    """Emits of a component on a stream that somebody consumes. `wrong`: those in question, `first` the first one."""

    delivered: int = 0
    wrong: int = 0
    first: Emitted | None = None


class _OfBolts(Checker):
    """Base of checks of what bolts emit that get tracked tuples.

    What no consumer gets, and what the topology exempts, is left out. A warning unless at-least-once is demanded: the
    protocol allows all of it. A subclass says what is `in_question`.
    """

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self.worst = "fail" if facts.guarantee == "at-least-once" else "warn"
        self._asked = facts.guarantee in ("", "at-least-once")
        self._tracked: Counter[int] = Counter()
        self._emission: Emitted | None = None
        self._made: dict[tuple[str, str], _Emits] = {}

    def in_question(self, event: Emitted) -> bool:
        """Tell if it is one of those."""
        raise NotImplementedError

    def sentence(self, name: str, stream: str, made: _Emits, first: str) -> str:
        """The sentence about a component and a stream; `first`: about the first emit in question."""
        raise NotImplementedError

    def emitted(self, event: Emitted) -> None:
        """Keep a bolt's emission until somebody gets it."""
        asked = self._asked and self._tracked[event.task] and event.task not in self.facts.spouts
        self._emission = event if asked else None

    def delivered(self, event: Delivered) -> None:
        """Count the emission that this belongs to once, and the tracked tuples of the task."""
        emission, self._emission = self._emission, None
        if emission is not None and emission.n == event.emit:
            self._count_in(emission)
        if event.edges and self._asked:
            self._tracked[event.task] += 1

    def _count_in(self, event: Emitted) -> None:
        name = self.facts.components.get(event.task, "")
        if self.facts.unanchored & {event.stream, f"{name}/{event.stream}"}:
            return
        made = self._made.setdefault((name, event.stream), _Emits())
        made.delivered += 1
        if self.in_question(event):
            made.wrong += 1
            made.first = made.first or event

    def finish(self) -> None:
        """Name each component and stream with its share and the first example."""
        for (name, stream), made in self._made.items():
            if (first := made.first) is not None:
                place = f" ({self.facts.emitting[name]})" if name in self.facts.emitting else ""
                at = f"The first: {self.facts.name(first.task)} emitted {first.values}{_place(first)}{place}"
                self.wrong(self.sentence(name, stream, made, at), first.n)


class AnchoredEmits(_OfBolts):
    """Emits of bolts that get tracked tuples are anchored; else nobody replays what is lost of them."""

    id = "anchored"
    title = "What bolts make of tracked tuples is anchored to them"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._parents: dict[int, tuple[int, bool]] = {}
        self._childless: Counter[str] = Counter()
        self._settled: Counter[str] = Counter()

    def in_question(self, event: Emitted) -> bool:
        """True for an emit without anchors."""
        return not event.anchors

    def sentence(self, name: str, stream: str, made: _Emits, first: str) -> str:
        """With the share of tuples that have no child."""
        share = f"{made.wrong:,} of {made.delivered:,} tuples of {name} on stream {stream} are unanchored"
        settled = f"{self._childless[name]:,} of the {self._settled[name]:,} tuples that it acked have no child"
        return (
            f"{share}, below tracked tuples: if one is lost, nobody replays it. {first}; {settled}. "
            f"Anchor them, or exempt the stream ({UNANCHORED}: [{stream}])"
        )

    def emitted(self, event: Emitted) -> None:
        """Note which tuples have children, too."""
        super().emitted(event)
        for anchor in event.anchors:
            if anchor in self._parents:
                self._parents[anchor] = (event.task, True)

    def delivered(self, event: Delivered) -> None:
        """Note the tracked tuples, too."""
        super().delivered(event)
        if event.edges and self._asked:
            self._parents[event.n] = (event.task, False)

    def settled(self, event: TupleSettled) -> None:
        """Note whether anything was anchored to it."""
        task, parent = self._parents.pop(event.delivery, (0, False))
        if task:
            name = self.facts.components.get(task, "")
            self._settled[name] += event.how == "ack"
            self._childless[name] += event.how == "ack" and not parent

    def lost(self, event: Lost) -> None:
        """Its task holds it no longer."""
        self._parents.pop(event.delivery, None)


class AckedLast(_OfBolts):
    """A tuple is acked behind what is made of it: else that is lost with a task that dies in between.

    It is certain where a task emits without an anchor, holds nothing, and acked a tracked tuple last.
    """

    id = "acked-last"
    title = "Bolts emit what they make of a tuple before they ack it"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._holder: dict[int, int] = {}
        self._held: Counter[int] = Counter()
        self._acked_last: dict[int, bool] = {}

    def in_question(self, event: Emitted) -> bool:
        """True for an emit that comes when all is acked."""
        return not event.anchors and not self._held[event.task] and self._acked_last.get(event.task, False)

    def sentence(self, name: str, stream: str, made: _Emits, first: str) -> str:
        """With the least share: what else is under way may hide an ack that came too early."""
        share = f"{made.wrong:,} or more of {made.delivered:,} tuples of {name} on stream {stream}"
        return (
            f"{share} came behind the ack of all that was given to their task (an ack before the emit): if the task "
            f"dies in between, they are lost, and nobody replays them. {first}. Emit first, anchored, and ack then, or "
            f"exempt the stream ({UNANCHORED}: [{stream}])"
        )

    def delivered(self, event: Delivered) -> None:
        """Note who holds what, too: also what is not tracked, of which an emit may be made."""
        super().delivered(event)
        if self._asked:
            self._holder[event.n] = event.task
            self._held[event.task] += 1

    def settled(self, event: TupleSettled) -> None:
        """Note that it is held no longer."""
        if task := self._holder.pop(event.delivery, 0):
            self._held[task] -= 1
            self._acked_last[task] = event.how == "ack" and bool(event.edges)

    def lost(self, event: Lost) -> None:
        """Note that it is held no longer."""
        if task := self._holder.pop(event.delivery, 0):
            self._held[task] -= 1


class Tracked(Checker):
    """Every emit of a spout is tracked: it has a message id, and there are ackers. For at-least-once."""

    id = "tracked"
    title = "What spouts emit is tracked: with a message id, by an acker"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._emitted: Counter[str] = Counter()
        self._loose: Counter[str] = Counter()
        self._first: dict[str, Emitted] = {}

    def emitted(self, event: Emitted) -> None:
        """Count a spout's emission."""
        if event.task not in self.facts.spouts:
            return
        name = self.facts.components[event.task]
        self._emitted[name] += 1
        if event.message_id is None:
            self._loose[name] += 1
            self._first.setdefault(name, event)

    def finish(self) -> None:
        """Name each spout with its share and the first example."""
        if not self.facts.ackers:
            self.wrong(f"there are no ackers, and {GUARANTEE} is at-least-once: what is lost is never replayed")
        for name, first in self._first.items():
            share = f"{self._loose[name]:,} of {self._emitted[name]:,} tuples of spout {name} have no message id"
            at = f"{self.facts.name(first.task)} emitted {first.values}{_place(first)}"
            self.wrong(f"{share}: if one is lost, nobody replays it. The first: {at}", first.n)


class AtMostOnce(Checker):
    """Nothing that a spout was told to have failed, or forgot in its death, is emitted again. For at-most-once."""

    id = "at-most-once"
    title = "Nothing is processed twice: no spout emits a message again"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._open: dict[int, tuple[int, str]] = {}
        self._over: dict[tuple[str, str], str] = {}

    def emitted(self, event: Emitted) -> None:
        """A message that has ended already must not come again."""
        if event.task not in self.facts.spouts or event.message_id is None:
            return
        name, id_ = self.facts.components[event.task], json.dumps(event.message_id)
        if why := self._over.get((name, id_)):
            self.wrong(f"{self.facts.name(event.task)} emitted message {id_} again, after it {why}", event.n)
        self._open[event.n] = (event.task, id_)

    def ended(self, event: EmissionEnded) -> None:
        """Remember what was not acked."""
        task, id_ = self._open.pop(event.emit, (0, ""))
        if task and event.how != "acked":
            self._over[self.facts.components[task], id_] = event.how

    def died(self, event: Died) -> None:
        """Forget what a dead spout waited for: it may have been processed."""
        gone = self.facts.gone(event)
        for number, (task, id_) in tuple(self._open.items()):
            if task in gone:
                del self._open[number]
                self._over[self.facts.components[task], id_] = "was forgotten with its spout"


def _place(event: Emitted) -> str:
    """The time and the number of an emission, by which the history of the run has it."""
    return f" at {event.t:.3f} s (emission {event.n})"


def permitted(result: CheckResult, guarantee: str) -> CheckResult:
    """A loss is no failure where the topology does not claim at-least-once."""
    if result.id == "at-least-once" and guarantee in ("at-most-once", "none"):
        return msgspec.structs.replace(result, verdict="pass", reason="", emissions=())
    return result
