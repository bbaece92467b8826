"""The handshake that Storm sends a component: the conf, the pid directory, and where its task stands in the topology.

A component that is tried alone still stands in a topology. Where nobody declared one it is a plain small one: a
`source` (for bolts), the component, a `sink` that shares its tuples by shuffling, and an `__acker`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.words.messages import DEFAULT_STREAM, Handshake, Json
from multilang_cli.protocol.words.verdicts import Profile, SourceSpec, StreamSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from multilang_cli.protocol.words.verdicts import StormVersion

ACKER = "__acker"
SOURCE = "source"
SINK = "sink"
TOPOLOGY = "mlcheck"
SUBMITTED = 1_700_000_000
"""When the topology was submitted, in seconds since 1970: part of its id, and always the same."""

_SHUFFLE = {"type": "SHUFFLE"}
_DIRECT = {"type": "DIRECT"}


class Sample(msgspec.Struct, frozen=True):
    """The values of a tuple for a bolt, and the component and stream that it comes from."""

    values: list[Json]
    component: str = SOURCE
    stream: str = DEFAULT_STREAM


def topology_of(profile: Profile) -> Profile:
    """`profile` with every task, source and stream that it leaves open filled in, as the context will show them.

    For the host and for people; the judge keeps the profile as it was declared, so that it judges no guesses.
    """
    tasks = dict(_declared_tasks(profile))
    ackers = () if profile.without_ackers else (ACKER,)
    for component in (*ackers, *_neighbours(profile)):
        if component not in tasks.values():
            tasks[next(task for task in range(1, len(tasks) + 2) if task not in tasks)] = component
    streams = profile.streams
    if streams is None:
        sinks = tuple(task for task, component in sorted(tasks.items()) if component == SINK)
        field = "word" if profile.kind == "bolt" else "sentence"
        plain = StreamSpec(fields=(field,))
        consumed = msgspec.structs.replace(plain, consumers={SINK: sinks}, groupings={SINK: _SHUFFLE})
        streams = {DEFAULT_STREAM: plain if profile.unconsumed else consumed}
    return msgspec.structs.replace(
        profile, tasks=dict(sorted(tasks.items())), streams=streams, sources=_sources(profile)
    )


def _declared_tasks(profile: Profile) -> Iterator[tuple[int, str]]:
    yield from profile.tasks.items()
    for spec in (profile.streams or {}).values():
        for component, tasks in spec.consumers.items():
            yield from ((task, component) for task in tasks)
    yield profile.task, profile.component


def _neighbours(profile: Profile) -> Iterable[str]:
    yield from _sources(profile)
    if profile.streams is None:
        yield SINK


def _sources(profile: Profile) -> dict[str, dict[str, SourceSpec]]:
    if profile.sources or profile.kind == "spout":
        return profile.sources
    return {SOURCE: {DEFAULT_STREAM: SourceSpec(fields=("sentence",), grouping=_SHUFFLE)}}


def realistic_conf(base: Mapping[str, Any], profile: Profile, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The whole conf that Storm hands over: cluster and topology merged, not the component's own settings alone.

    `base`: the cluster's conf (``catalogue.storm_conf``); over it the topology's name and id, the profile's conf, and
    `overrides`.
    """
    name = overrides.get("topology.name", profile.conf.get("topology.name", TOPOLOGY))
    topology = {"topology.name": name, "storm.id": f"{name}-1-{SUBMITTED}"}
    return {**base, **topology, **profile.conf, **overrides}


def topology_context(profile: Profile, version: StormVersion) -> dict[str, Any]:
    """The context as `version` sends it: two keys up to 0.9, all since 0.10 (``TopologyContext.toJSONString``).

    System components have tasks but no streams here: Storm shows components the topology as its user wrote it.
    """
    if version.context == "none":
        return {}
    whole = topology_of(profile)
    context: dict[str, Any] = {
        "task->component": {str(task): component for task, component in whole.tasks.items()},
        "taskid": whole.task,
    }
    if version.context == "small":
        return context
    streams = whole.streams or {}
    return {
        **context,
        "componentid": whole.component,
        "streams": list(streams),
        "stream->outputfields": {name: list(spec.fields or ()) for name, spec in streams.items()},
        "stream->target->grouping": {name: _targets(spec) for name, spec in streams.items() if _targets(spec)},
        "source->stream->grouping": {
            source: {name: dict(spec.grouping) for name, spec in specs.items()}
            for source, specs in whole.sources.items()
        },
        "source->stream->fields": {
            source: {name: list(spec.fields) for name, spec in specs.items()} for source, specs in whole.sources.items()
        },
    }


def _targets(spec: StreamSpec) -> dict[str, dict[str, Any]]:
    usual = _DIRECT if spec.direct else _SHUFFLE
    components = dict.fromkeys([*spec.consumers, *spec.groupings])
    return {component: dict(spec.groupings.get(component, usual)) for component in components}


def handshake(
    profile: Profile,
    version: StormVersion,
    conf: Mapping[str, Any],
    pid_dir: str,
    extra: Mapping[str, Any] | None = None,
) -> Handshake:
    """Storm's first message to the task of `profile`.

    `conf`: see ``realistic_conf``. `pid_dir`: an existing directory. `extra`: more for the context, such as a larger
    topology has; what the profile says stays.
    """
    return Handshake(dict(conf), pid_dir, _with_more(topology_context(profile, version), extra or {}))


def sent_by(version: StormVersion, profile: Profile, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Keep of `extra` for the context what has a key that this version sends."""
    return {key: value for key, value in extra.items() if key in topology_context(profile, version)}


def _with_more(own: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """`own` and what `more` adds: keys of objects at any depth, items of lists."""
    merged = {**more, **own}
    for key in own.keys() & more.keys():
        if isinstance(own[key], dict) and isinstance(more[key], dict):
            merged[key] = _with_more(own[key], more[key])
        elif isinstance(own[key], list) and isinstance(more[key], list):
            merged[key] = [*own[key], *(item for item in more[key] if item not in own[key])]
    return merged
