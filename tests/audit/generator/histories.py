"""Made roots as the history of a run: the lines that ``mlcheck topology run`` would have written, in order."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.audit.marks import Mark, marks_of
from multilang_cli.topology.history import Delivered, EmissionEnded, Emitted, Happening, Launched, Lost, TupleSettled
from tests.audit.generator.trees import make

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.audit.generator.trees import Made, TreesPlan

_MOST_OF_A_ROOT = 16
"""Deliveries and emissions of one root, at most: each has numbers of its own without counting those before."""
_encode = msgspec.json.Encoder().encode


def events_of(made: Made) -> list[Happening]:
    """All events of one root, unordered. Emissions and deliveries are numbered apart from all other roots'."""
    first = made.number * _MOST_OF_A_ROOT + 1
    found: list[Happening] = []
    for place, node in enumerate(made.nodes):
        n, edges = first + place, {made.root: node.edge}
        values = _encode(node.values).decode()
        if node.parent is None:
            own: dict[str, Any] = {"message_id": made.number, "root": made.root}
        else:
            own = {"anchors": (first + node.parent,)}
        emitted = Emitted(t=node.made, n=n, task=node.source, stream="default", values=values, **own)
        found += [emitted, Delivered(t=node.made, n=n, emit=n, task=node.target, id=node.id, edges=edges)]
        found += [TupleSettled(t=t, delivery=n, how=how, edges=edges) for t, how in node.settles]  # type: ignore[arg-type]
        if node.lost is not None:
            found.append(Lost(t=node.lost, delivery=n, edges=edges))
    if made.outcome is not None:
        t, how = made.outcome
        latency = t - made.emitted
        found.append(EmissionEnded(t=t, emit=first, root=made.root, task=made.task, how=how, latency=latency))  # type: ignore[arg-type]
    return found


def marks(made: Made) -> list[Mark]:
    """The marks of one root."""
    return [mark for event in events_of(made) for mark in marks_of(event)]


def history(plan: TreesPlan) -> Iterator[Happening]:
    """The whole run, in the order of time; holds what is under way."""
    for task in (*plan.spouts, *plan.splits, *plan.counts):
        yield Launched(t=0.0, task=task, component=plan.component(task), worker=plan.worker(task), pid=task)
    heap: list[tuple[float, int, Happening]] = []
    count = 0
    for number in range(plan.roots):
        for event in events_of(make(plan, number)):
            heappush(heap, (event.t, count, event))
            count += 1
        while heap and heap[0][0] < number * plan.gap:
            yield heappop(heap)[2]
    while heap:
        yield heappop(heap)[2]


def truth(plan: TreesPlan) -> Iterator[Made]:
    """The verdicts that the audit must reach, root by root."""
    return (make(plan, number) for number in range(plan.roots))
