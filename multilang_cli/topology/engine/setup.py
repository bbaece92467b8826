"""Parts of a run of a topology: read once, before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from multilang_cli.acking.acker import LatePolicy
from multilang_cli.driver.environment import WorkerEnvironment, worker_environment
from multilang_cli.protocol.words.rulebook import Rulebook
from multilang_cli.protocol.words.verdicts import StormVersion
from multilang_cli.topology.faults.plan import Fault
from multilang_cli.topology.java.groupings import CustomGroupings
from multilang_cli.topology.java.values import JavaValues
from multilang_cli.topology.model import Topology
from multilang_cli.topology.tasks import MESSAGE_TIMEOUT, TIMEOUTS, Layout, lay_out, merged_conf, own_conf
from multilang_cli.transcript.redact import Redactor

RECEIVE_BUFFER = "topology.executor.receive.buffer.size"
SPOUT_SLEEP = "topology.sleep.spout.wait.strategy.time.ms"


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """When spouts are deactivated: whatever comes first.

    `messages`: so many emissions of spouts; `seconds` of running; 0 for neither. `idle`: seconds in which nothing went
    on, and nothing was waited for: the sources are exhausted. `drain`: seconds, at most, for what is under way then;
    None for twice the message timeout and a bit.
    """

    messages: int = 0
    seconds: float = 0.0
    idle: float = 1.0
    drain: float | None = None


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """A topology on a Storm version, and where its run is written.

    `folder`: of the run; it exists. `cwd`: the working directory of components that name none (``resources`` in Storm).
    `env`: what they inherit. `limits`: of the judge, in seconds or bytes by name, over the usual ones. `transcripts`:
    False keeps none. `late`: what ackers do about messages for records that expired. `restarts`: deaths that were
    nobody's wish, after which a worker is given up. `faults`: what goes wrong on purpose. `custom`: who is asked by
    custom groupings.
    """

    topology: Topology
    version: StormVersion
    rulebook: Rulebook
    folder: Path
    layout: Layout
    cwd: Path
    env: dict[str, str]
    goal: Goal = Goal()
    seed: int = 0
    limits: dict[str, float] = {}
    transcripts: bool = True
    late: LatePolicy = "ignore"
    restarts: int = 10
    faults: tuple[Fault, ...] = ()
    custom: CustomGroupings | None = None

    @property
    def java_values(self) -> JavaValues | None:
        """The values that only Java can read; None if there is nothing of Java."""
        java = self.topology.java
        if java is None:
            return None
        tasks = (task for task, name in self.layout.components.items() if name in java.components)
        return JavaValues(java.tag, frozenset(tasks))

    def redactor(self) -> Redactor:
        """Redactor of the secrets of the topology's conf, and of its components and their environments."""
        components = self.topology.components.values()
        settings = [part for each in components for part in (each.conf, each.env)]
        words = [word for each in components for word in ("", *each.command)]
        return Redactor({"": [self.topology.conf, *settings]}, words=words)

    def worker_environment(self, additions: dict[str, str]) -> WorkerEnvironment:
        """The environment of a component, with what the topology adds for it."""
        how = "env of the component gives it one"
        return worker_environment(additions, conf=self.conf, inherited=self.env, how_to_keep=how)

    @property
    def conf(self) -> dict[str, Any]:
        """The conf of the topology, over the cluster's."""
        return merged_conf(self.topology, self.version.id)

    def setting(self, task: int, key: str) -> float:
        """A number of the conf of a task's component; 0 for none."""
        component = self.topology.components.get(self.layout.components[task])
        value = {**self.conf, **(own_conf(component, self.version.id) if component else {})}.get(key)
        return float(value) if isinstance(value, int | float) else 0.0

    @property
    def message_timeout(self) -> float:
        """Seconds between two rotations of what waits, 0 for never."""
        conf = self.conf
        return float(conf.get(MESSAGE_TIMEOUT) or 0) if conf.get(TIMEOUTS, True) else 0.0


def set_up(topology: Topology, version: StormVersion, rulebook: Rulebook, folder: Path, **more: Any) -> Setup:
    """The setup of a run; `more`: its other fields, those without a default among them."""
    layout = more.pop("layout", None) or lay_out(topology, version.id)
    return Setup(topology=topology, version=version, rulebook=rulebook, folder=folder, layout=layout, **more)
