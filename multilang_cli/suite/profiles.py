"""From what the user told us to what the judge is told: the small topology around the component under test."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.bolt_rules import TIMER
from multilang_cli.protocol.conversation import storm_timeout
from multilang_cli.protocol.verdicts import Profile, SourceSpec, StormVersion, StreamSpec
from multilang_cli.suite.options import DEFAULT_SAMPLE, Component, StreamDeclaration

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE, SINK, ACKER = "source", "sink", "__acker"

LIMITS = ("pid", "sync", "heartbeat", "settle", "exit-after-eof", "exit-after-term", "read", "output", "pid-file")
"""What is waited for with a limit, in seconds (`Deadline.waiting_for`)."""

PATIENT = frozenset({"pid", "sync", "heartbeat", "settle", "read"})
"""What may take as long as Storm allows it: its subprocess timeout, and as long for what Storm does not limit."""
LIMIT = 10.0
"""Seconds for everything else."""


def samples_of(component: Component) -> Sequence[list[Any]]:
    """The values to feed, never empty."""
    return component.samples or (DEFAULT_SAMPLE,)


def profile_of(component: Component, version: StormVersion, timeout: float | None) -> Profile:
    """The judge's profile: one source, one sink with two tasks and an acker around the component.

    `timeout` in seconds, for every limit that the component does not set itself; None: as patient as Storm is.
    """
    own = component.task
    source, sink_one, sink_two, acker = islice((task for task in range(1, 6) if task != own), 4)
    kind = "spout" if component.kind == "spout" else "bolt"
    name = component.name or kind
    fields = (
        tuple(f"field{i + 1}" for i in range(len(samples_of(component)[0]))) if component.samples else ("sentence",)
    )
    sources = {SOURCE: {"default": SourceSpec(fields, {"type": "SHUFFLE"})}} if kind == "bolt" else {}
    streams = component.streams
    specs = None if streams is None else {name: _spec(stream, (sink_one, sink_two)) for name, stream in streams.items()}
    names = {source: SOURCE, own: name, sink_one: SINK, sink_two: SINK, acker: ACKER}
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
        settles=component.settles,
        limits=_limits(component, version, timeout) | component.limits,
    )


def _limits(component: Component, version: StormVersion, timeout: float | None) -> dict[str, float]:
    """Seconds by name. Storm looks once a second, so its own limit is over a second late."""
    if timeout is not None:
        return dict.fromkeys(LIMITS, timeout)
    patient = storm_timeout(component.conf, version) + TIMER
    return {name: max(LIMIT, patient) if name in PATIENT else LIMIT for name in LIMITS}


def _spec(stream: StreamDeclaration, tasks: tuple[int, ...]) -> StreamSpec:
    grouping = {"type": "DIRECT" if stream.direct else "SHUFFLE"}
    return StreamSpec(stream.fields, stream.direct, {SINK: tasks}, {SINK: grouping}, stream.schema)
