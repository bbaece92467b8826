"""From the history of a run to the points where a fault could show that something is unproven. Pure."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.words.messages import TICK_FREQUENCY
from multilang_cli.topology.faults.kinds import KINDS, FaultTarget
from multilang_cli.topology.faults.moments import Moments
from multilang_cli.topology.faults.plan import Fault
from multilang_cli.topology.history import Delivered, EmissionEnded, Emitted, Lost, TupleSettled
from multilang_cli.topology.tasks import MESSAGE_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.topology.faults.moments import Moment
    from multilang_cli.topology.history import Happening
    from multilang_cli.topology.model import Topology
    from multilang_cli.topology.tasks import Layout

USUAL_TIMEOUT = 30.0
"""``topology.message.timeout.secs`` of a topology that does not say it."""
MOST_ALIKE = 200
"""Points that differ only in their place of which each is kept: of more, the last one as well."""


class FaultPoint(msgspec.Struct, frozen=True):
    """A fault at a place of a history. `about`: what it tries, the same for all that differ only in their place.

    `rank`: the lower, the likelier a loss: 0 is what no tree covers.
    """

    fault: Fault
    about: str
    rank: int


class _Held(msgspec.Struct):
    """A delivery that is not settled. `again`: it is of a message that was emitted before."""

    task: int
    again: bool
    children: int = 0


def points_of(events: Iterable[Happening], topology: Topology, layout: Layout) -> list[FaultPoint]:
    """The points of a history, in their order."""
    finder = _Finder(topology, layout)
    for event in events:
        finder.take(event)
    return [point for alike in finder.found.values() for point in alike]


class _Finder:
    def __init__(self, topology: Topology, layout: Layout) -> None:
        self.found: dict[str, list[FaultPoint]] = {}
        self._layout = layout
        kinds = {name: component.kind for name, component in topology.components.items()}
        self._kinds: dict[int, FaultTarget] = {
            task: kinds.get(name, "acker") for task, name in layout.components.items()
        }
        self._consumed = {each.source for each in topology.subscriptions}
        self._late = {name: late for name in kinds if (late := _late_for_ticks(topology, name))}
        self._moments = Moments()
        self._held: dict[int, _Held] = {}
        self._holding: Counter[int] = Counter()
        self._emission: Emitted | None = None
        self._again = False
        self._sent: set[tuple[str, str]] = set()
        self._messages: dict[int, tuple[str, str]] = {}
        self._failed: set[tuple[str, str]] = set()
        self._acked: dict[int, Moment] = {}

    def take(self, event: Happening) -> None:
        """The next event."""
        for moment in self._moments.take(event):
            self._at(event, moment)
        if isinstance(event, TupleSettled | Lost):
            held = self._held.pop(event.delivery, None)
            self._holding.subtract([held.task] if held else [])

    def _at(self, event: Happening, at: Moment) -> None:
        match event:
            case Emitted() if self._kinds[at.task] == "spout":
                self._of_spout(event, at)
            case Emitted():
                self._of_bolt(event, at)
            case Delivered():
                self._on_edge(event, at)
            case TupleSettled():
                self._settled(event, at)
            case EmissionEnded():
                self._ended(event, at)
            case _ if at.what == "init":
                self._add("kill", at, "an acker with what it knows of a tuple", 4)

    def _of_spout(self, event: Emitted, at: Moment) -> None:
        """The tuple is to be replayed when it times out, or when the spout dies."""
        key = self._layout.components[at.task], json.dumps(event.message_id)
        self._emission, self._again = event, key in self._sent
        self._sent.add(key)
        self._messages[event.n] = key
        if event.root is not None:
            again = " that is a replay" if self._again else ""
            self._add("time-out", at, f"a tuple{again}, before its time", 1)
            self._add("kill", at, f"a spout behind its emit{again}", 3)

    def _ended(self, event: EmissionEnded, at: Moment) -> None:
        """A spout that dies must not take for done what was emitted before and is not, though later tuples are."""
        message = self._messages.pop(event.emit, None)
        earlier = next(iter(self._messages), event.emit) < event.emit
        failed = self._failed - {message} if message else self._failed
        late, rank = (", an earlier one being open", 1) if earlier or failed else ("", 3)
        self._add("kill", at, f"a spout before it is told the end of a tuple{late}", rank)
        if message is not None:
            (self._failed.discard if event.how == "acked" else self._failed.add)(message)

    def _of_bolt(self, event: Emitted, at: Moment) -> None:
        """Behind an emit a bolt has still to ack; what it acked before may be what it makes the emit of."""
        self._emission = event
        parents = [self._held[each] for each in event.anchors if each in self._held]
        self._again = any(each.again for each in parents)
        for each in parents:
            each.children += 1
        if (acked := self._acked.pop(at.task, None)) is not None:
            self._add("mute", acked, "a bolt between an ack and an emit", 2 if parents else 0)
        self._add("mute", at, "a bolt behind an emit, before its ack", 3)

    def _on_edge(self, event: Delivered, at: Moment) -> None:
        """A tuple may be lost with whom it goes to."""
        emission = self._emission
        if emission is None or event.emit != emission.n or self._kinds[at.task] == "acker":
            return
        self._held[event.n] = _Held(at.task, self._again)
        self._holding[at.task] += 1
        of = f"{self._layout.components[emission.task]}/{emission.stream}"
        loose = "" if event.edges else " in no tree"
        again = " again" if self._again else ""
        self._add("mute", at, f"who has a tuple of {of}{loose}{again}", 2 if event.edges else 0)
        self._add("duplicate", at, f"a tuple of {of}", 4)
        late = self._late.get(self._layout.components[at.task])
        if late and self._holding[at.task] > 1:
            self._add("stall-stdin", at, f"a bolt with ticks that holds a tuple of {of}{again}", 2, late)

    def _settled(self, event: TupleSettled, at: Moment) -> None:
        """Of what it acks without a child, a bolt may still have something in its memory."""
        held = self._held.get(event.delivery)
        if event.how == "ack":
            self._acked[at.task] = at
        if held is None:
            return
        passes_on = self._layout.components[at.task] in self._consumed
        how, rank = (
            ("at the end", 4) if not passes_on else ("after its emits", 3) if held.children else ("childless", 1)
        )
        again = " again" if held.again else ""
        self._add("mute", at, f"a bolt behind a tuple that it {event.how}ed {how}{again}", rank)

    def _add(self, kind: str, at: Moment, what: str, rank: int, parameter: float | None = None) -> None:
        name = self._layout.components[at.task]
        fault = Fault(
            kind=kind,
            target=name if len(self._layout.tasks_of(name)) == 1 else str(at.task),
            at=at.nth,
            worker=self._layout.workers[at.task],
            task=at.task,
            parameter=KINDS[kind].usual if parameter is None else parameter,
            moment=at.what,
        )
        about = f"{kind} {name}: {what}"
        alike = self.found.setdefault(about, [])
        if len(alike) > MOST_ALIKE:
            alike.pop()
        alike.append(FaultPoint(fault, about, rank))


def _late_for_ticks(topology: Topology, name: str) -> float:
    """Seconds by which the ticks of a bolt may come late, and no tuple times out; 0 for one without ticks."""
    component = topology.components[name]
    conf = {**topology.conf, **component.conf}
    ticks = float(conf.get(TICK_FREQUENCY) or 0) if component.kind == "bolt" else 0
    return max(0.0, min(2 * ticks, float(topology.conf.get(MESSAGE_TIMEOUT) or USUAL_TIMEOUT) - ticks))
