"""Messages on their way from Kafka through a topology run by mlcheck, with a mishap on the way; and what came of it."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from multilang_cli.topology.history import Delivered, Emitted, Happening, Launched, TupleSettled
from multilang_cli.topology.model import ComponentSpec, Grouping, OutputStream, Subscription, Topology
from tests.topologies.runs import HERE, Ran, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.topology.engine.engine import Engine
    from tests.kafka.topics import Topic

GUARD = 600.0
"""Seconds after which a journey is given up: nothing that works comes close."""


def to_a_bolt(topic: Topic, tasks: int = 1, **settings: Any) -> Topology:
    """The Kafka spout, in a worker of its own if it has one task, and a bolt that acks."""
    told = {"bootstrap.servers": topic.kafka.bootstrap_servers, "topic": topic.name, "id": topic.name, **settings}
    spout = ComponentSpec(
        id="kafka",
        kind="spout",
        command=(sys.executable, "-m", "multilang_cli.kafka"),
        parallelism=tasks,
        tasks=tasks,
        streams={"default": OutputStream(("message",))},
        conf={f"kafka.spout.{name}": value for name, value in told.items()},
    )
    bolt = ComponentSpec(
        id="count",
        kind="bolt",
        command=(sys.executable, str(HERE / "count.py")),
        streams={"default": OutputStream(("word", "count"))},
    )
    return Topology(
        name="journey",
        components={"kafka": spout, "count": bolt},
        subscriptions=(Subscription(source="kafka", target="count", grouping=Grouping("SHUFFLE")),),
        conf={
            "topology.acker.executors": 1,
            "topology.workers": 2,
            "topology.message.timeout.secs": 5,
            "topology.max.spout.pending": 200,
        },
    )


class Journey:
    """Watches a run until `count` different values are acked by the bolt; at `mishap_at` of them does `mishap`."""

    def __init__(
        self,
        count: int,
        mishap_at: int = 0,
        mishap: Callable[[Journey], object] | None = None,
        guard: float = GUARD,
    ) -> None:
        self.acked: Counter[str] = Counter()
        self.pids: dict[str, int] = {}
        self.spouts: dict[str, set[int]] = {}
        self._count = count
        self._guard = guard
        self._at = mishap_at
        self._mishap = mishap
        self._values: dict[int, str] = {}
        self._ways: dict[int, str] = {}

    def run(self, topology: Topology, folder: Path) -> Ran:
        """Run it to its end."""
        return run(topology, folder, self._watch, seconds=self._guard)

    def kill(self, component: str) -> None:
        """SIGKILL for a process of this component, the one that was started last."""
        os.kill(self.pids[component], signal.SIGKILL)

    def later(self, seconds: float, do: Callable[[], object]) -> None:
        """Do something later in the run, which does not end before."""
        self.engine.busy.add("later")
        self.engine.agenda.at(self.engine.now + seconds, do)
        self.engine.agenda.at(self.engine.now + seconds, lambda: self.engine.busy.discard("later"))

    def _watch(self, engine: Engine) -> Callable[[Happening], object]:
        self.engine = engine
        engine.busy.add("journey")

        def listen(event: Happening) -> None:
            self._take(event)
            if self._mishap is not None and len(self.acked) >= self._at:
                mishap, self._mishap = self._mishap, None
                engine.soon(lambda: mishap(self))
            if len(self.acked) >= self._count:
                engine.busy.discard("journey")

        return listen

    def _take(self, event: Happening) -> None:
        match event:
            case Launched(component=component, pid=int(pid)):
                self.pids[component] = pid
            case Emitted(n=n, values=values, message_id=str(), task=task):
                [self._values[n]] = json.loads(values)
                self.spouts.setdefault(self._values[n], set()).add(task)
            case Delivered(n=n, emit=emit) if emit in self._values:
                self._ways[n] = self._values[emit]
            case TupleSettled(delivery=delivery, how="ack") if delivery in self._ways:
                self.acked[self._ways[delivery]] += 1

    @property
    def values(self) -> set[str]:
        """What was acked."""
        return set(self.acked)

    @property
    def again(self) -> int:
        """How many acks were of a message that was acked before."""
        return self.acked.total() - len(self.acked)
