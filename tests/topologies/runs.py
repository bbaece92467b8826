"""Runs a topology in a test, and what it left: its result and its history, by kinds."""

from __future__ import annotations

import os
import random
import sys
from functools import reduce
from operator import xor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.topology.engine.setup import Goal, set_up
from multilang_cli.topology.faults.plan import plan_faults
from multilang_cli.topology.history import (
    AckerTold,
    Delivered,
    EmissionEnded,
    Emitted,
    Faulted,
    Happening,
    Launched,
    TupleSettled,
)
from multilang_cli.topology.history_file import read_history
from multilang_cli.topology.model import ComponentSpec, Grouping, OutputStream, Subscription, Topology
from multilang_cli.topology.running import TopologyRun, prepare, run_topology
from multilang_cli.topology.tasks import lay_out
from multilang_cli.transcript.naming import HISTORY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.topology.engine.engine import Engine
    from multilang_cli.topology.engine.setup import Setup

HERE = Path(__file__).parent
ACKERS, TIMEOUT, WORKERS = "topology.acker.executors", "topology.message.timeout.secs", "topology.workers"
SENTENCES = ["snow white and the seven dwarfs", "the cow jumped over the moon", "the seven moons"]
H = TypeVar("H", bound=Happening)


def component(name: str, kind: Kind, script: str, tasks: int = 1, **streams: tuple[str, ...]) -> ComponentSpec:
    return ComponentSpec(
        id=name,
        kind=kind,
        command=(sys.executable, str(HERE / script)),
        parallelism=tasks,
        tasks=tasks,
        streams={stream: OutputStream(fields) for stream, fields in streams.items()},
    )


def split_count(tasks: int = 1, **conf: Any) -> Topology:
    """Sentences, shuffled to split; its words by their field to count. conf: dots are written as __."""
    parts = (
        component("sentences", "spout", "queue_spout.py", default=("sentence",)),
        component("split", "bolt", "split.py", tasks, default=("word",)),
        component("count", "bolt", "count.py", tasks, default=("word", "count")),
    )
    return Topology(
        name="split-count",
        components={each.id: each for each in parts},
        subscriptions=(
            Subscription(source="sentences", target="split", grouping=Grouping("SHUFFLE")),
            Subscription(source="split", target="count", grouping=Grouping("FIELDS", ("word",))),
        ),
        conf={"sentences": SENTENCES, ACKERS: 1} | {key.replace("__", "."): value for key, value in conf.items()},
    )


class Ran:
    """What a run left: `result`, `history`, and the folder; and what it was set up with."""

    def __init__(self, run: TopologyRun, setup: Setup) -> None:
        folder = setup.folder
        self.run = run
        self.setup = setup
        self.result = run.result
        self.folder = folder
        self.history = list(read_history(folder / HISTORY))

    def of(self, kind: type[H]) -> list[H]:
        return [each for each in self.history if isinstance(each, kind)]

    def ends(self) -> list[tuple[Any, str]]:
        """Each end of an emission of a spout: its message id, and how."""
        ids = {each.n: each.message_id for each in self.of(Emitted)}
        return [(ids[each.emit], each.how) for each in self.of(EmissionEnded)]

    def values(self, component: str) -> list[str]:
        """What reached a component and was acked, as JSON text, in the order of the acks."""
        tasks = {each.task for each in self.of(Launched) if each.component == component}
        emits = {each.n: each.values for each in self.of(Emitted)}
        mine = {each.n: emits[each.emit] for each in self.of(Delivered) if each.task in tasks}
        return [mine[each.delivery] for each in self.of(TupleSettled) if each.delivery in mine and each.how == "ack"]

    def held(self) -> dict[str, str]:
        """What the checkers say, all but pass."""
        return {each.id: each.verdict for each in self.run.held if each.verdict != "pass"}

    def struck(self) -> list[str]:
        """The faults that struck, as written."""
        return [each.fault for each in self.of(Faulted) if each.phase == "strikes"]

    def check_xor(self) -> None:
        """What an acker was told first is the XOR of the edges made, and of what was acked no edge is open."""
        deliveries = self.of(Delivered)
        acked = {each.delivery for each in self.of(TupleSettled) if each.how == "ack"}
        still_open = {root for each in deliveries for root in each.edges if each.n not in acked}
        edges: dict[int, list[int]] = {}
        for made in deliveries:
            edges.setdefault(made.emit, []).extend(made.edges.values())
        inits = {each.root: each.val for each in self.of(AckerTold) if each.what == "init"}
        roots = {each.n: each.root for each in self.of(Emitted) if each.root is not None}
        ends = {each.emit: each.how for each in self.of(EmissionEnded)}
        for number, root in roots.items():
            assert reduce(xor, edges[number], 0) == inits[root]
            assert ends[number] != "acked" or root not in still_open


def run(
    topology: Topology,
    folder: Path,
    watch: Callable[[Engine], Callable[[Happening], object] | None] = lambda _: None,
    *,
    storm: str = "",
    restarts: int = 3,
    faults: Sequence[str] = (),
    seed: int = 0,
    env: Mapping[str, str] | None = None,
    limits: Mapping[str, float] | None = None,
    **goal: Any,
) -> Ran:
    rulebook = load_rulebook(storm)
    version = rulebook.version(storm)
    prepare(folder)
    more: dict[str, Any] = {
        "cwd": folder,
        "env": {**os.environ, **(env or {})},
        "restarts": restarts,
        "limits": limits or {},
    }
    more["goal"] = Goal(**{"idle": 0.2, **goal})
    plan = plan_faults(faults, topology, lay_out(topology, version.id), random.Random(seed))  # noqa: S311
    setup = set_up(topology, version, rulebook, folder, seed=seed, faults=plan, **more)
    return Ran(run_topology(setup, watch), setup)
