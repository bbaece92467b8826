"""Which tasks an emit goes to, as far as the component can see it: the task ids that Storm answers with.

One emit goes to every consumer of its stream; the ids are those of each consumer in turn. The choice within a consumer
is by its grouping's kind, in Storm's sense but not with Storm's random numbers: a component must not care.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multilang_cli.protocol.messages import Emit
    from multilang_cli.protocol.verdicts import Profile, StreamSpec


class Router:
    """Chooses target tasks for emits of one component. Round robin for shuffles, by value for fields groupings."""

    def __init__(self, profile: Profile) -> None:
        self._streams = profile.streams
        self._fallback = min((task for task in profile.tasks if task > profile.task), default=profile.task + 1)
        self._turn = 0

    def targets(self, emit: Emit) -> list[int]:
        """The task ids to answer with; empty where nobody consumes the stream or Storm would refuse the emit."""
        if self._streams is None:
            return [self._fallback]
        spec = self._streams.get(emit.stream)
        if spec is None or spec.direct:
            return []
        self._turn += 1
        return [
            task
            for consumer, tasks in spec.consumers.items()
            if tasks
            for task in self._choose(spec, spec.groupings.get(consumer, {}), sorted(tasks), emit)
        ]

    def _choose(self, spec: StreamSpec, grouping: dict[str, object], tasks: list[int], emit: Emit) -> list[int]:
        kind = grouping.get("type", "SHUFFLE")
        if kind == "ALL":
            return tasks
        if kind != "FIELDS":
            return [tasks[self._turn % len(tasks)]]
        names = grouping.get("fields")
        chosen = names if isinstance(names, list | tuple) else []
        by_name = dict(zip(spec.fields or (), emit.values, strict=False))
        key = repr([by_name.get(name) for name in chosen]).encode("utf-8", "surrogatepass")
        return [tasks[zlib.crc32(key) % len(tasks)]] if chosen else tasks[:1]
