"""From a topology and its tasks to what each task is told of it, and to where its tuples go."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.judge.context import storm_timeout
from multilang_cli.protocol.words.verdicts import ACKERS, Profile, SourceSpec, StreamSpec
from multilang_cli.topology.groupings import ChooserContext, Outgoing, chooser
from multilang_cli.topology.tasks import own_conf

if TYPE_CHECKING:
    from random import Random

    from multilang_cli.protocol.words.verdicts import StormVersion
    from multilang_cli.topology.java.groupings import CustomGroupings
    from multilang_cli.topology.model import ComponentSpec, Grouping, Subscription, Topology
    from multilang_cli.topology.tasks import Layout

TIMER = 1.0
"""Seconds between two looks of Storm at its subprocess's clock."""
DEAD_SOON = 0.2
"""Seconds that a process with a closed pipe is given to be dead, in which the whole topology waits."""


def outgoing_of(
    topology: Topology,
    layout: Layout,
    version: StormVersion,
    random: Random,
    custom: CustomGroupings | None = None,
) -> dict[int, dict[str, Outgoing]]:
    """Targets of each task's emits, by stream: the tasks of an executor share their choosers, as in Storm.

    `custom`: who is asked by CUSTOM groupings.
    """
    worker_of = layout.workers
    found: dict[int, dict[str, Outgoing]] = {}
    for executor in layout.executors:
        component = topology.components.get(executor.component)
        streams: dict[str, Outgoing] = {}
        for name, stream in (component.streams if component else {}).items():
            consumers: dict[str, Any] = {}
            for each in topology.consumers(executor.component, name):
                targets = layout.tasks_of(each.target)
                if not targets:
                    continue
                local = tuple(task for task in targets if worker_of[task] == executor.worker)
                where = ChooserContext(
                    fields=stream.fields,
                    targets=targets,
                    version=version,
                    random=random,
                    local=local,
                    conf=topology.conf,
                    java_tag=topology.java.tag if topology.java else "",
                    custom=_asked(custom, each, executor.tasks[0]),
                )
                consumers[each.target] = (targets, chooser(each.grouping, where))
            streams[name] = Outgoing(consumers)
        found |= dict.fromkeys(executor.tasks, streams)
    return found


def _asked(custom: CustomGroupings | None, wish: Subscription, executor: int) -> Any:
    """Gives the tasks of a tuple by a CUSTOM grouping; its class is told the first task of the executor that emits."""
    where = {"source": wish.source, "stream": wish.stream, "target": wish.target}
    return partial(custom.choose, {**where, "executor": executor, "task": executor}) if custom else None


def downstream(topology: Topology, layout: Layout) -> dict[int, frozenset[int]]:
    """For each task those its tuples go to, but for tasks whose tuples come back to it: in a cycle nobody can wait."""
    straight: dict[str, set[str]] = {}
    for each in topology.subscriptions:
        straight.setdefault(each.source, set()).add(each.target)
    found = {}
    for name in set(layout.components.values()):
        targets = {each for each in straight.get(name, ()) if name not in _reached(each, straight)}
        found[name] = frozenset(task for each in targets for task in layout.tasks_of(each))
    return {task: found[name] for task, name in layout.components.items()}


def _reached(name: str, straight: dict[str, set[str]]) -> set[str]:
    found, left = {name}, [name]
    while left:
        new = straight.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def profile_of(
    topology: Topology, layout: Layout, version: StormVersion, task: int, limits: dict[str, float] | None = None
) -> Profile:
    """The profile of a task for the judge, and for the handshake that tells the task of its topology."""
    component = topology.components[layout.components[task]]
    conf = {**topology.conf, **own_conf(component, version.id), ACKERS: len(layout.ackers)}
    patient = storm_timeout(conf, version) + TIMER
    return Profile(
        kind=component.kind,
        storm=version.id,
        task=task,
        component=component.id,
        streams={name: _stream(topology, layout, component, name) for name in component.streams},
        sources=_sources(topology, component),
        tasks=layout.components,
        conf=conf,
        limits={"pid": patient, "sync": patient, "heartbeat": patient, "grace": DEAD_SOON, **(limits or {})},
    )


def _stream(topology: Topology, layout: Layout, component: ComponentSpec, name: str) -> StreamSpec:
    stream = component.streams[name]
    consumers = topology.consumers(component.id, name)
    return StreamSpec(
        fields=stream.fields,
        direct=stream.direct,
        consumers={each.target: layout.tasks_of(each.target) for each in consumers},
        groupings={each.target: plain(each.grouping) for each in consumers},
    )


def _sources(topology: Topology, component: ComponentSpec) -> dict[str, dict[str, SourceSpec]]:
    found: dict[str, dict[str, SourceSpec]] = {}
    for each in topology.subscriptions:
        if each.target == component.id:
            source = topology.components.get(each.source)
            fields = source.streams[each.stream].fields if source else ()
            found.setdefault(each.source, {})[each.stream] = SourceSpec(fields, plain(each.grouping))
    return found


_NAMES = {"GLOBAL": "FIELDS", "PARTIAL_KEY": "CUSTOM_SERIALIZED", "CUSTOM": "CUSTOM_SERIALIZED"}
"""Groupings that are others to Thrift: a global one is a fields grouping on no field."""


def plain(grouping: Grouping) -> dict[str, Any]:
    """A grouping as the topology context shows it."""
    name = _NAMES.get(grouping.type, grouping.type)
    return {"type": name, "fields": list(grouping.fields)} if name == "FIELDS" else {"type": name}
