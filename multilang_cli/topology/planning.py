"""Plan of a topology on a Storm: its tasks, where they live, and what is not guaranteed and why. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.words.verdicts import Kind
from multilang_cli.topology import risks
from multilang_cli.topology.risks import Risk
from multilang_cli.topology.tasks import MAX_SPOUT_PENDING, MESSAGE_TIMEOUT, TIMEOUTS, lay_out, merged_conf
from multilang_cli.transcript.secrets import hide_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from multilang_cli.topology.history import Happening
    from multilang_cli.topology.model import ComponentSpec, Grouping, Topology
    from multilang_cli.topology.tasks import Layout


class PlannedConsumer(msgspec.Struct, frozen=True):
    """A consumer of a stream: its tasks, of which the grouping picks. `grouping`: its type, then its fields."""

    target: str
    grouping: str
    tasks: tuple[int, ...]


class StreamPlan(msgspec.Struct, frozen=True):
    """A stream of a component, and who consumes it, in the order of declaration."""

    name: str
    fields: tuple[str, ...]
    consumers: tuple[PlannedConsumer, ...]


class ComponentPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A component. `executors`: how many there will be; `tasks`: the worker, from 0 on, by task id.

    `max_spout_pending`: of a spout's task, by its own conf or the topology's; None for no limit, and of bolts.
    """

    id: str
    kind: Kind
    command: tuple[str, ...]
    folder: str
    executors: int
    tasks: dict[int, int]
    max_spout_pending: int | None
    streams: tuple[StreamPlan, ...]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A topology on Storm `storm`. Components in the order in which tuples come to them; `ackers`: worker by task id.

    `message_timeout`: seconds after which a tuple counts as lost, at the earliest; None if none ever does.
    """

    name: str
    storm: str
    workers: int
    ackers: dict[int, int]
    message_timeout: float | None
    max_spout_pending: int | None
    components: tuple[ComponentPlan, ...]
    risks: tuple[Risk, ...]


def plan(topology: Topology, storm: str, history: Iterable[Happening] = ()) -> Plan:
    """Plan a topology that was found right, on Storm `storm`, such as "2.8.3". `history`: of a run of it."""
    conf = merged_conf(topology, storm)
    layout = lay_out(topology, storm)
    workers = layout.workers
    timeouts = conf.get(TIMEOUTS, True)
    # Each after one that feeds it: spouts first, what no spout feeds last.
    names = dict.fromkeys([*risks.fed_by_spouts(topology), *topology.components])
    return Plan(
        name=topology.name,
        storm=storm,
        workers=max(workers.values(), default=0) + 1,
        ackers={task: workers[task] for task in layout.ackers},
        message_timeout=conf.get(MESSAGE_TIMEOUT) if timeouts else None,
        max_spout_pending=conf.get(MAX_SPOUT_PENDING),
        components=tuple(_component(topology.components[name], topology, layout, conf) for name in names),
        risks=(*risks.of(topology, layout, conf, storm), *risks.seen(history, topology)),
    )


def _component(component: ComponentSpec, topology: Topology, layout: Layout, conf: Mapping[str, Any]) -> ComponentPlan:
    workers = layout.workers
    return ComponentPlan(
        id=component.id,
        kind=component.kind,
        command=tuple(hide_words(component.command)),
        folder=component.cwd,
        executors=sum(each.component == component.id for each in layout.executors),
        tasks={task: workers[task] for task in layout.tasks_of(component.id)},
        max_spout_pending={**conf, **component.conf}.get(MAX_SPOUT_PENDING) if component.kind == "spout" else None,
        streams=tuple(
            StreamPlan(
                name,
                stream.fields,
                tuple(
                    PlannedConsumer(
                        subscription.target, shown(subscription.grouping), layout.tasks_of(subscription.target)
                    )
                    for subscription in topology.consumers(component.id, name)
                ),
            )
            for name, stream in component.streams.items()
        ),
    )


def shown(grouping: Grouping) -> str:
    """A grouping in a line: FIELDS word, count."""
    return f"{grouping.type} {', '.join(grouping.fields)}".rstrip()


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in short: 1-3, 7."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def to_json(plan_: Plan) -> dict[str, Any]:
    """The plan as JSON values; task ids that are keys are text there."""
    plain = msgspec.to_builtins(plan_, str_keys=True)
    assert isinstance(plain, dict)  # noqa: S101 (a struct becomes an object)
    return plain
