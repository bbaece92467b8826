"""A run's topology as a drawing: components, what flowed along each edge, and where faults struck."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.reports.escape import escape
from multilang_cli.reports.html.document import Edge, Graph, GraphNode, GraphStep, Steps
from multilang_cli.topology.history import Delivered, Died, EmissionEnded, Emitted, Faulted, Lost, TupleSettled
from multilang_cli.topology.planning import ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from multilang_cli.topology.history import Happening
    from multilang_cli.topology.model import Topology

MOST_FAULTS = 50
"""Faults that are told of."""
_NOTE = "Along each edge: its grouping, and the tuples that were delivered. Red is what a fault struck or cost."


class _Flow(NamedTuple):
    source: str
    stream: str
    target: str


class _Strike:
    """A fault that struck, and what was lost or failed from then on to the next one."""

    def __init__(self, event: Faulted) -> None:
        self.event = event
        self.cost: Counter[str] = Counter()

    def sentence(self, components: Mapping[int, str]) -> str:
        """Tell of it and of what came of it."""
        task = self.event.task
        where = f" {components.get(task, '?')}, task {task}," if task else ""
        came = (
            ", ".join(f"{count:,} {_counted(what, count)}" for what, count in self.cost.items())
            or "nothing was lost or failed"
        )
        return escape(f"{self.event.t:.3f} s: {self.event.fault} strikes{where} and until the next: {came}")


def _counted(what: str, count: int) -> str:
    """One of "emissions failed" is an emission failed."""
    noun, _, rest = what.partition(" ")
    return f"{noun.removesuffix('s') if count == 1 else noun} {rest}"


class FlowGraph:
    """Counts what the history says of a topology. `components`: ids by task."""

    def __init__(self, topology: Topology, components: Mapping[int, str]) -> None:
        self._topology = topology
        self._components = components
        self._emission: Emitted | None = None
        self._flows: Counter[_Flow] = Counter()
        self._lost: Counter[_Flow] = Counter()
        self._way: dict[int, _Flow] = {}
        self._did: dict[str, Counter[str]] = {name: Counter() for name in topology.components}
        self._strikes: list[_Strike] = []
        self._struck: set[str] = set()

    def take(self, event: Happening) -> None:
        """The next event."""
        match event:
            case Emitted(task=task):
                self._emission = event
                self._count(task, "emitted")
            case Delivered(n=number, emit=emit, task=task, again=False):
                if self._emission is not None and self._emission.n == emit:
                    names = self._components.get(self._emission.task, ""), self._components.get(task, "")
                    flow = self._way[number] = _Flow(names[0], self._emission.stream, names[1])
                    self._flows[flow] += 1
            case TupleSettled(delivery=number, how=how):
                if done := self._way.pop(number, None):
                    self._did[done.target][f"{how}ed"] += 1
            case Lost(delivery=number):
                if gone := self._way.pop(number, None):
                    self._lost[gone] += 1
                    self._cost("tuples lost")
            case _:
                self._of_faults(event)

    def _of_faults(self, event: Happening) -> None:
        match event:
            case EmissionEnded(how=how) if how != "acked":
                self._cost(f"emissions {how}")
            case Died(task=task):
                self._cost("workers died" if task is None else "ackers died")
            case Faulted(phase="strikes", task=task) if len(self._strikes) < MOST_FAULTS:
                self._strikes.append(_Strike(event))
                self._struck.add(self._components.get(task or 0, ""))

    def _count(self, task: int, what: str) -> None:
        if (counts := self._did.get(self._components.get(task, ""))) is not None:
            counts[what] += 1

    def _cost(self, what: str) -> None:
        if self._strikes:
            self._strikes[-1].cost[what] += 1

    def section(self) -> Steps:
        """The drawing, with a step for each fault."""
        told = [each.sentence(self._components) for each in self._strikes]
        return Steps(
            id="topology",
            title="The topology",
            note=_NOTE,
            graph=Graph(nodes=tuple(self._nodes()), edges=tuple(self._edges()), direction="LR"),
            steps=tuple(GraphStep(text=text, tone="bad") for text in told),
        )

    def _nodes(self) -> Iterator[GraphNode]:
        for name, spec in self._topology.components.items():
            tasks = [task for task, component in self._components.items() if component == name]
            did = ", ".join(f"{count:,} {what}" for what, count in self._did[name].items()) or "nothing happened"
            yield GraphNode(
                id=name,
                label=escape(f"{name} {ranges(tasks)}"),
                detail=escape(f"{spec.kind}: {did}"),
                tone="bad" if name in self._struck else None,
            )

    def _edges(self) -> Iterator[Edge]:
        for each in self._topology.subscriptions:
            flow = _Flow(each.source, each.stream, each.target)
            lost = f", {self._lost[flow]:,} lost" if self._lost[flow] else ""
            stream = "" if each.stream == "default" else f"{each.stream} "
            yield Edge(
                from_=each.source,
                to=each.target,
                label=escape(f"{stream}{each.grouping.type} {self._flows[flow]:,}{lost}"),
                tone="bad" if lost else None,
            )
