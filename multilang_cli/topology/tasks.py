"""Task ids as Storm gives them, and which worker has which task (``StormCommon.stormTaskInfo``, ``EvenScheduler``)."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.protocol.wire.context import ACKER
from multilang_cli.protocol.words.messages import TICK_FREQUENCY
from multilang_cli.protocol.words.verdicts import ACKERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from multilang_cli.topology.model import ComponentSpec, Topology

TASKS = "topology.tasks"
MAX_PARALLELISM = "topology.max.task.parallelism"
WORKERS = "topology.workers"
MAX_SPOUT_PENDING = "topology.max.spout.pending"
MESSAGE_TIMEOUT = "topology.message.timeout.secs"
TIMEOUTS = "topology.enable.message.timeouts"
"""The key of conf that says whether tuples time out at all."""


class Executor(msgspec.Struct, frozen=True):
    """A thread of Storm's: the tasks of one component that share it, and its worker, from 0 on."""

    component: str
    tasks: tuple[int, ...]
    worker: int


class Layout(msgspec.Struct, frozen=True):
    """Every task of a topology: `components` by task id from 1 on, ascending, and the executors in that order."""

    components: dict[int, str]
    executors: tuple[Executor, ...]

    def tasks_of(self, component: str) -> tuple[int, ...]:
        """The task ids of a component, ascending; none if it has no tasks."""
        return tuple(task for task, name in self.components.items() if name == component)

    @property
    def workers(self) -> dict[int, int]:
        """The worker of each task."""
        return {task: executor.worker for executor in self.executors for task in executor.tasks}

    @property
    def ackers(self) -> tuple[int, ...]:
        """The task ids of the ackers."""
        return self.tasks_of(ACKER)


def merged_conf(topology: Topology, storm: str) -> dict[str, Any]:
    """The conf that the topology has on a cluster of Storm `storm`, such as "2.8.3", with default settings."""
    return {**base_conf(storm), **topology.conf}


OWN_SETTINGS = frozenset(
    {
        "topology.debug",
        MAX_SPOUT_PENDING,
        MAX_PARALLELISM,
        "topology.transactional.id",
        TICK_FREQUENCY,
        "topology.sleep.spout.wait.strategy.time.ms",
        "topology.spout.wait.strategy",
        "topology.bolts.window.length.count",
        "topology.bolts.window.length.duration.ms",
        "topology.bolts.window.sliding.interval.count",
        "topology.bolts.window.sliding.interval.duration.ms",
        "topology.bolts.tuple.timestamp.max.lag.ms",
        "topology.bolts.message.id.field.name",
        "topology.bolts.late.tuple.stream",
        "topology.state.provider",
        "topology.state.provider.config",
    }
)
"""Keys of Storm's that a component may set for itself."""
_WITHOUT_DEFAULT = frozenset({"topology.subprocess.timeout.secs", "topology.shellbolt.max.pending"})
"""Keys of Storm's that matter here and that a cluster's conf lacks."""


def own_conf(component: ComponentSpec, storm: str) -> dict[str, Any]:
    """The part of a component's own conf that counts for it, and that its process is told.

    Of Storm's keys those in `OWN_SETTINGS` alone, and every other key (``Executor.normalizedComponentConf``).
    """
    storms = base_conf(storm).keys() | _WITHOUT_DEFAULT
    return {key: value for key, value in component.conf.items() if key in OWN_SETTINGS or key not in storms}


def task_count(parallelism: int, own: Mapping[str, Any], conf: Mapping[str, Any]) -> int:
    """Number of a component's tasks (``ServerUtils.getComponentParallelism``).

    As many as executors unless ``topology.tasks`` says otherwise, and at most ``topology.max.task.parallelism``; both
    from the component's `own` conf over the topology's.
    """
    combined = {**conf, **own}
    wanted, most = combined.get(TASKS), combined.get(MAX_PARALLELISM)
    count = parallelism if wanted is None else int(wanted)
    return count if most is None else min(count, int(most))


def acker_count(conf: Mapping[str, Any]) -> int:
    """Number of ackers by this merged conf: one a worker unless told, 0 for no acking at all."""
    told = conf.get(ACKERS)
    return int(conf.get(WORKERS) or 1) if told is None else int(told)


def lay_out(topology: Topology, storm: str) -> Layout:
    """The tasks of a topology on Storm `storm`: components sorted by id, the ackers among them.

    Executors are dealt out to the workers in the order of their tasks. A worker more than there are executors stays
    empty; Storm would start none. Components of Storm's own besides the ackers (metrics consumers, event loggers) are
    in Java, and have no tasks here.
    """
    conf = merged_conf(topology, storm)
    ackers = acker_count(conf)
    sizes = {each.id: (each.tasks, each.parallelism) for each in topology.components.values()}
    sizes[ACKER] = (ackers, ackers)
    names = [name for name in sorted(sizes, key=_in_java) for _ in range(sizes[name][0])]
    components = dict(enumerate(names, start=1))
    parts: list[tuple[str, tuple[int, ...]]] = []
    for name in dict.fromkeys(names):
        tasks = tuple(task for task, owner in components.items() if owner == name)
        parts += [(name, part) for part in _parts(tasks, sizes[name][1])]
    workers = max(1, int(conf.get(WORKERS) or 1))
    executors = tuple(Executor(name, part, at % workers) for at, (name, part) in enumerate(parts))
    return Layout(components, executors)


def _in_java(text: str) -> bytes:
    """Strings in this order are in Java's: by UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")


def _parts(tasks: tuple[int, ...], most: int) -> list[tuple[int, ...]]:
    """So many parts or fewer, in order, sizes differing by at most one, the large ones first (``partitionFixed``)."""
    count = min(most, len(tasks))
    if not count:
        return []
    size, larger = divmod(len(tasks), count)
    ends = accumulate((size + (at < larger) for at in range(count)), initial=0)
    return [tasks[start:end] for start, end in pairwise(ends)]
