"""From what the user told us to what the judge is told: the small topology around the component under test."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.judge.bolt_rules import TIMER
from multilang_cli.protocol.judge.context import storm_timeout
from multilang_cli.protocol.wire.context import ACKER, SINK, SOURCE
from multilang_cli.protocol.words.verdicts import Profile, SourceSpec, StormVersion, StreamSpec
from multilang_cli.subject.samples import sources_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from multilang_cli.subject.options import Component, StreamDeclaration

StreamTasks = dict[str, frozenset[int]]
"""Streams, each with the tasks that are emitted to directly; none for a stream with an emit to whom it may concern."""

VALUED = "valued"
"""The source's stream to a testee whose tuples hold a plan and a value: a library may count the fields."""

LIMITS = (
    "pid",
    "sync",
    "heartbeat",
    "settle",
    "exit-after-eof",
    "exit-after-term",
    "read",
    "output",
    "pid-file",
    "plan",
)
"""What is waited for with a limit, in seconds (`Deadline.waiting_for`)."""

LIMITED_BY_STORM = frozenset({"pid", "sync", "heartbeat", "settle", "read", "plan"})
"""What may take as long as Storm allows it: its subprocess timeout, and as long for what Storm does not limit."""
USUAL_LIMIT = 10.0
"""Seconds for everything else."""


def profile_of(
    component: Component, version: StormVersion, timeout: float | None, asked: StreamTasks | None = None
) -> Profile:
    """The judge's profile: its sources, one sink with two tasks and an acker around the component.

    `timeout` in seconds, for every limit that the component does not set itself; None: as patient as Storm is. `asked`:
    the streams on which a testee is asked to emit; they are declared then.
    """
    own = component.task
    kind = "spout" if component.kind == "spout" else "bolt"
    name = component.name or kind
    sources = _sources(component) if kind == "bolt" else {}
    # A bolt may read its own tuples again; beside a spout, which reads nothing, a source stands all the same.
    others = [each for each in sources if each not in {name, SINK}] or [SOURCE]
    acker, *read, sink_one, sink_two = islice((task for task in count(1) if task != own), len(others) + 3)
    sinks = (sink_one, sink_two)
    specs = None if component.streams is None else {each: _spec(s, sinks) for each, s in component.streams.items()}
    if specs is None and asked is not None:
        specs = {stream: _asked(tasks, sinks) for stream, tasks in asked.items()}
    names = {**dict(zip(read, others, strict=True)), own: name, sink_one: SINK, sink_two: SINK, acker: ACKER}
    return Profile(
        kind="spout" if kind == "spout" else "bolt",
        storm=version.id,
        task=own,
        component=name,
        streams=specs,
        sources=sources,
        tasks=dict(sorted(names.items())),
        conf=component.conf,
        features=component.features,
        metrics=component.metrics,
        pid=component.pid,
        settles=component.settling,
        limits=_limits(component, version, timeout) | component.limits,
        testee=component.testee,
    )


def _sources(component: Component) -> dict[str, dict[str, SourceSpec]]:
    found: dict[str, dict[str, SourceSpec]] = {}
    for each in sources_of(component):
        grouping = each.grouping or _grouping(direct=False)
        found.setdefault(each.component, {})[each.stream] = SourceSpec(each.fields or (), grouping)
    if component.testee:
        found.setdefault(SOURCE, {})[VALUED] = SourceSpec(("plan", "value"), {"type": "SHUFFLE"})
    return found


def without_consumers(profile: Profile) -> Profile:
    """`profile` in a topology where nobody consumes what the component emits, but for direct streams."""
    streams = profile.streams and {
        name: spec if spec.direct else msgspec.structs.replace(spec, consumers={}, groupings={})
        for name, spec in profile.streams.items()
    }
    return msgspec.structs.replace(profile, streams=streams, unconsumed=True)


def _limits(component: Component, version: StormVersion, timeout: float | None) -> dict[str, float]:
    """Seconds by name. Storm looks once a second, so its own limit is over a second late."""
    if timeout is not None:
        return dict.fromkeys(LIMITS, timeout)
    patient = storm_timeout(component.conf, version) + TIMER
    return {name: max(USUAL_LIMIT, patient) if name in LIMITED_BY_STORM else USUAL_LIMIT for name in LIMITS}


def _spec(stream: StreamDeclaration, tasks: tuple[int, ...]) -> StreamSpec:
    return StreamSpec(stream.fields, stream.direct, {SINK: tasks}, {SINK: _grouping(stream.direct)}, stream.schema)


def _asked(tasks: Collection[int], sinks: tuple[int, ...]) -> StreamSpec:
    """A stream of any arity; whom a testee is asked to emit to directly, consumes it."""
    return StreamSpec(None, bool(tasks), {SINK: tuple(sorted({*sinks, *tasks}))}, {SINK: _grouping(bool(tasks))})


def _grouping(direct: bool) -> dict[str, Any]:
    return {"type": "DIRECT" if direct else "SHUFFLE"}
