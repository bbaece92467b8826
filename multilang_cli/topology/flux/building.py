"""From what a Flux file says to the topology that Flux makes of it (``FluxBuilder.buildTopology``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.words.messages import DEFAULT_STREAM
from multilang_cli.topology.flux import objects
from multilang_cli.topology.flux.errors import FluxError
from multilang_cli.topology.model import QUEUED, ComponentSpec, Grouping, Notice, Subscription, Topology
from multilang_cli.topology.tasks import TASKS, merged_conf, task_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.topology.flux.definitions import StreamDef, TopologyDef, VertexDef
    from multilang_cli.topology.flux.objects import Fields


def build(definition: TopologyDef, storm: str, resources: str, over: Mapping[str, Any]) -> Topology:
    """The topology; what Flux lets pass is added to the definition's notes. Raises FluxError.

    `storm`: such as "2.8.3". `resources`: the folder that components start in. `over`: conf over the definition's.
    """
    if definition.needs_java:
        raise definition.needs_java
    if not definition.name:
        raise FluxError(definition.place, "name is missing: a topology needs one.")
    conf = {key: objects.json_value(each) for key, each in definition.config.items()} | dict(over)
    parts = {each.id: objects.component(each) for each in definition.components.values()}
    subscriptions = list(_subscriptions(definition, parts))
    bare = Topology(name=definition.name, components={}, conf=conf)
    builder = _Builder(merged_conf(bare, storm), parts, subscriptions, resources)
    components = {each.id: builder.component(each, "spout") for each in definition.spouts.values()}
    targets = {subscription.target for subscription in subscriptions}
    for each in definition.bolts.values():
        bolt = builder.component(each, "bolt")
        if each.id not in targets:
            definition.notes.append(
                Notice(each.place, f"bolt '{each.id}' is the end of no stream: Flux leaves it out.")
            )
        elif each.id in components:
            raise FluxError(each.place, f"Spout has already been declared for id {each.id}")
        else:
            components[each.id] = bolt
    return msgspec.structs.replace(bare, components=components, subscriptions=tuple(subscriptions))


class _Builder:
    def __init__(
        self, conf: Mapping[str, Any], parts: Mapping[str, Fields], subscriptions: list[Subscription], resources: str
    ) -> None:
        self._conf = conf
        self._parts = parts
        self._direct = {
            (subscription.source, subscription.stream)
            for subscription in subscriptions
            if subscription.grouping.type == "DIRECT"
        }
        self._resources = resources

    def component(self, vertex: VertexDef, kind: Kind) -> ComponentSpec:
        """The spout or bolt of a definition. Raises FluxError."""
        made = objects.shell_component(vertex, kind, self._parts)
        if vertex.class_name == objects.QUEUE_SPOUT and QUEUED not in self._conf:
            raise FluxError(
                vertex.place, f"'{vertex.id}' has no queue: give the messages, as the list {QUEUED} of config."
            )
        made.conf |= {key: objects.json_value(each) for key, each in vertex.conf.items()}
        if vertex.num_tasks >= 0:
            made.conf[TASKS] = vertex.num_tasks
        return ComponentSpec(
            id=vertex.id,
            kind=kind,
            command=made.command,
            parallelism=vertex.parallelism,
            tasks=_tasks(vertex, made.conf, self._conf),
            streams={
                name: msgspec.structs.replace(stream, direct=(vertex.id, name) in self._direct)
                for name, stream in made.streams.items()
            },
            conf=made.conf,
            env=made.env,
            cwd=self._resources if made.own_folder else ".",
            place=vertex.place,
            sized=vertex.sized,
        )


def _tasks(vertex: VertexDef, own: Mapping[str, Any], conf: Mapping[str, Any]) -> int:
    """The number of tasks; 0 where the conf says nonsense, which is found out later."""
    try:
        return task_count(vertex.parallelism, own, conf)
    except (TypeError, ValueError):
        return 0


def _subscriptions(definition: TopologyDef, parts: Mapping[str, Fields]) -> Iterator[Subscription]:
    """One for each stream and consumer: of several, the last counts (``ComponentCommon.put_to_inputs``)."""
    found: dict[tuple[str, str, str], Subscription] = {}
    for stream in definition.streams:
        if stream.target not in definition.bolts:
            raise _no_bolt(stream, definition)
        subscription = Subscription(
            source=stream.source,
            target=stream.target,
            stream=stream.grouping.stream or DEFAULT_STREAM,
            grouping=_grouping(stream, parts, definition.notes),
            place=stream.place,
            places=stream.places,
        )
        key = (subscription.source, subscription.stream, subscription.target)
        if earlier := found.get(key):
            text = f"'{subscription.target}' subscribes to this stream again below; only the last grouping counts."
            definition.notes.append(Notice(earlier.place, text))
        found[key] = subscription
    yield from found.values()


def _no_bolt(stream: StreamDef, definition: TopologyDef) -> FluxError:
    if stream.target in definition.spouts:
        return FluxError(stream.places["to"], f"May not declare inputs for a spout: '{stream.target}' is one.")
    known = ", ".join(definition.bolts) or "none"
    told = f"the stream goes to '{stream.target}', which is no bolt. Known bolts are {known}."
    return FluxError(stream.places["to"], told)


def _grouping(stream: StreamDef, parts: Mapping[str, Fields], notes: list[Notice]) -> Grouping:
    asked = stream.grouping
    match asked.type:
        case "CUSTOM":
            if asked.custom is None:
                raise FluxError(asked.place, "a CUSTOM grouping needs a customClass.")
            return objects.custom_grouping(asked.custom, parts)
        case "FIELDS":
            if asked.args is None:
                raise FluxError(asked.place, "a FIELDS grouping needs args, the names of fields.")
            if not asked.args:
                notes.append(Notice(asked.place, "a FIELDS grouping by no fields is a GLOBAL grouping to Storm."))
                return Grouping("GLOBAL")
            return Grouping("FIELDS", objects.distinct(asked.args, asked.place))
        case "ALL" | "DIRECT" | "SHUFFLE" | "LOCAL_OR_SHUFFLE" | "GLOBAL" | "NONE":
            return Grouping(asked.type)
    raise AssertionError(asked.type)  # the definition knows no other
