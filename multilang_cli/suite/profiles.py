"""From what the user told us to what the judge is told: the small topology around the component under test."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.verdicts import Profile, SourceSpec, StormVersion, StreamSpec
from multilang_cli.suite.options import DEFAULT_SAMPLE, Component

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE, SINK, ACKER = "source", "sink", "__acker"

LIMITS = ("pid", "sync", "heartbeat", "settle", "exit-after-eof", "exit-after-term", "read", "output", "pid-file")
"""What is waited for with a limit, in seconds (`Deadline.waiting_for`)."""


def samples_of(component: Component) -> Sequence[list[Any]]:
    """The values to feed, never empty."""
    return component.samples or (DEFAULT_SAMPLE,)


def profile_of(component: Component, version: StormVersion, timeout: float) -> Profile:
    """The judge's profile: one source, one sink with two tasks and an acker around the component.

    `timeout` in seconds, for every limit that the component does not set itself.
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
    specs = (
        None if streams is None else {n: _spec(s.fields, s.direct, (sink_one, sink_two)) for n, s in streams.items()}
    )
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
        limits=dict.fromkeys(LIMITS, timeout) | component.limits,
    )


def _spec(fields: tuple[str, ...], direct: bool, tasks: tuple[int, ...]) -> StreamSpec:
    grouping = {"type": "DIRECT" if direct else "SHUFFLE"}
    return StreamSpec(fields, direct, {SINK: tasks}, {SINK: grouping})
