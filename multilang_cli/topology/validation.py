"""Storm's rules for a topology, with Storm's texts (``StormCommon.validateBasic``, ``validateStructure``). Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.protocol.words.messages import TICK_FREQUENCY
from multilang_cli.protocol.words.rulebook import covers
from multilang_cli.protocol.words.verdicts import ACKERS
from multilang_cli.topology.groupings import LOAD_AWARE_OFF
from multilang_cli.topology.model import EXPECTED, GUARANTEE, GUARANTEES, UNANCHORED, Notice
from multilang_cli.topology.tasks import (
    MAX_PARALLELISM,
    MAX_SPOUT_PENDING,
    MESSAGE_TIMEOUT,
    TASKS,
    TIMEOUTS,
    WORKERS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from multilang_cli.topology.model import ComponentSpec, Location, Subscription, Topology

_NAME = re.compile(r"[^/.:\\]+")
_SYSTEM = "__"
_UNION = ">=2.0"
"""Versions that look for the fields of a grouping in all streams of the source, not in the one that is meant."""

_INT_BITS = 31

MOST_TASKS = 10_000
"""Tasks of a component, ackers, or workers: more than any cluster has."""
_TOO_MANY = (
    f"mlcheck lays out {MOST_TASKS:,} at most; topology.max.task.parallelism bounds the tasks of every component."
)


class _Number(NamedTuple):
    """Demand of ``ConfigValidation`` on a key. `least`: None for any sign."""

    least: int | None
    null: bool = True


_NUMBERS = {
    WORKERS: _Number(1),
    ACKERS: _Number(0),
    TASKS: _Number(0),
    MAX_PARALLELISM: _Number(1),
    MESSAGE_TIMEOUT: _Number(1, null=False),
    MAX_SPOUT_PENDING: _Number(1),
    TICK_FREQUENCY: _Number(None),
    "topology.subprocess.timeout.secs": _Number(1),
    "topology.shellbolt.max.pending": _Number(1, null=False),
    "topology.executor.receive.buffer.size": _Number(1),
}
_BOOLEANS = (LOAD_AWARE_OFF, TIMEOUTS, "topology.tuple.compression.enable")


def problems(topology: Topology, storm: str, conf_places: Mapping[str, Location] | None = None) -> Iterator[Notice]:
    """Errors of a topology on Storm `storm`, roughly in the order in which Storm would find them.

    `conf_places`: where the keys of its conf stand. Cycles are no problem.
    """
    yield from _names(topology, storm)
    for component in topology.components.values():
        yield from _component(component)
    places = conf_places or {}
    yield from (Notice(places.get(key), text) for key, text in _bad_values(topology.conf))
    yield from (Notice(places.get(EXPECTED), f"{EXPECTED}: {text}") for text in _bad_expectations(topology))
    yield from (Notice(places.get(key), f"{key}: {text}") for key, text in _bad_guarantees(topology))
    for subscription in topology.subscriptions:
        yield from _subscription(topology, subscription, storm)
    if not any(each.kind == "spout" for each in topology.components.values()):
        yield Notice(None, f"Topology {topology.name} does not have any spout")


def _names(topology: Topology, storm: str) -> Iterator[Notice]:
    if not _NAME.fullmatch(topology.name):
        text = f"Topology name '{topology.name}' is not valid. It can't be null and it must match ^[^/.:\\\\]+$"
        yield Notice(None, text)
    stop = "." if covers(">=2.0", storm) else ""
    for component in topology.components.values():
        if component.id.startswith(_SYSTEM):
            yield Notice(component.place, f"{component.id} is not a valid component id{stop}")
        for name in component.streams:
            if name.startswith(_SYSTEM):
                yield Notice(component.place, f"{name} is not a valid stream id{stop}")


def _component(component: ComponentSpec) -> Iterator[Notice]:
    if component.parallelism < 1:
        yield Notice(
            component.sized, f"Parallelism must be positive. That of {component.id} is {component.parallelism}."
        )
    elif component.tasks > MOST_TASKS:
        yield Notice(component.sized, f"{component.id} has {component.tasks:,} tasks. {_TOO_MANY}")
    yield from (Notice(component.place, text) for _, text in _bad_values(component.conf))


def _bad_values(conf: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys that matter here and have a wrong value (``ConfigValidation.validateFields``), with what is wrong."""
    for key, rule in _NUMBERS.items():
        value = conf.get(key)
        if key in conf and value is None and not rule.null:
            yield key, f"Field {_constant(key)} cannot be null!"
        elif value is not None and not _is_int(value):
            yield key, f"Field {_constant(key)} must be an Integer within type range. {key} is {value!r}."
        elif value is not None and rule.least is not None and value < rule.least:
            yield key, f"Field {_constant(key)} must be a Positive Number: {key} is {value!r}."
        elif value is not None and key in (WORKERS, ACKERS) and value > MOST_TASKS:
            yield key, f"{key} is {int(value):,}. {_TOO_MANY}"
    for key in _BOOLEANS:
        if conf.get(key) is not None and not isinstance(conf[key], bool):
            yield key, f"Field {_constant(key)} must be of type class java.lang.Boolean: {key} is {conf[key]!r}."


def _bad_expectations(topology: Topology) -> Iterator[str]:
    told = topology.conf.get(EXPECTED, {})
    if not isinstance(told, dict):
        yield "it is a mapping, from components to lists of values."
        return
    for name, values in told.items():
        if name not in topology.components:
            yield f"there is no component {name}. Known are {', '.join(topology.components)}."
        elif not isinstance(values, list) or not all(isinstance(each, list) for each in values):
            yield f"what {name} must ack is a list of tuples, each a list of values."


def _bad_guarantees(topology: Topology) -> Iterator[tuple[str, str]]:
    told = topology.conf.get(GUARANTEE)
    if told is not None and told not in GUARANTEES:
        yield GUARANTEE, f"it is {told!r}; expected one of {', '.join(GUARANTEES)}."
    exempt = topology.conf.get(UNANCHORED, [])
    known = topology.stream_names
    if not isinstance(exempt, list):
        yield UNANCHORED, 'it is a list of streams, STREAM or COMPONENT/STREAM, such as ["metrics"].'
        return
    for name in exempt:
        if name not in known:
            yield UNANCHORED, f"no component declares a stream {name}. Known are {', '.join(sorted(known))}."


def _constant(key: str) -> str:
    """The constant of Java's Config, by which Storm calls a key."""
    return key.upper().replace(".", "_")


def _is_int(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and value == int(value) and -(1 << _INT_BITS) <= value < 1 << _INT_BITS


def _subscription(topology: Topology, subscription: Subscription, storm: str) -> Iterator[Notice]:
    who = f"Component: [{subscription.target}] subscribes from"
    if topology.components[subscription.target].kind == "spout":
        yield Notice(subscription.at("to"), f"May not declare inputs for a spout: [{subscription.target}] is one.")
        return
    source = topology.components.get(subscription.source)
    if source is None:
        known = ", ".join(topology.components)
        yield Notice(
            subscription.at("from"), f"{who} non-existent component [{subscription.source}]. Known are {known}."
        )
    elif subscription.stream not in source.streams:
        declared = ", ".join(source.streams) or "none"
        stream = f"[{subscription.stream}] of component [{subscription.source}]"
        text = f"{who} non-existent stream: {stream}. Declared are {declared}."
        yield Notice(subscription.at("streamId"), text)
    else:
        yield from _grouping_fields(subscription, source, storm)


def _grouping_fields(subscription: Subscription, source: ComponentSpec, storm: str) -> Iterator[Notice]:
    """Fields of the grouping that the stream has not; other streams' count for Storm 2, until the first emit."""
    fields = source.streams[subscription.stream].fields
    missing = [name for name in subscription.grouping.fields if name not in fields]
    if not missing:
        return
    has = f"It has {', '.join(fields) or 'none'}."
    where = f"[{subscription.stream}] of component [{subscription.source}]"
    elsewhere = {name for stream in source.streams.values() for name in stream.fields}
    if covers(_UNION, storm) and elsewhere.issuperset(missing):
        yield Notice(
            subscription.at("args"),
            f"{missing[0]} does not exist in stream {where}. Storm takes the topology, "
            f"for another stream has it, and the worker dies at the first tuple. {has}",
        )
        return
    plus, shown = (" +", f"[{', '.join(missing)}]") if covers(_UNION, storm) else ("", _clojure_set(missing))
    yield Notice(
        subscription.at("args"),
        f"Component: [{subscription.target}] subscribes from stream: {where}{plus} with "
        f"non-existent fields: {shown}. {has}",
    )


def _clojure_set(names: list[str]) -> str:
    return "#{" + " ".join(f'"{name}"' for name in names) + "}"
