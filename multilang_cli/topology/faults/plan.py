"""The plan of a run's faults: what was asked, and what a seed makes of it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.topology.faults.kinds import KINDS, MOMENTS, FaultTarget
from multilang_cli.topology.model import QUEUED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from multilang_cli.topology.model import Topology
    from multilang_cli.topology.tasks import Layout

RANDOM = "random"
"""Asks for faults that the seed draws: random, or random:N."""
LATEST = 20
"""A fault that names no delivery strikes by this one, or earlier where a queue has fewer messages."""
_SPELT = re.compile(r"(?P<kind>[^:@]+)(:(?P<target>[^:@]+))?(:(?P<parameter>[^:@]+))?(@(?P<at>[^@]+))?")


class FaultError(ValueError):
    """A fault that can't be planned; its str says why, and what can."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that will strike when `at` deliveries were made in the run, or at the `at`-th such `moment` of its task.

    `task`: that it strikes; `worker`: of that task, or the one that dies. `parameter`: seconds or times, and `moment`,
    "" for none: see ``kinds``. `target`: as it was asked for.
    """

    kind: str
    target: str
    at: int
    worker: int
    task: int | None = None
    parameter: float = 0.0
    moment: str = ""

    def __str__(self) -> str:
        """As `plan_faults` reads it."""
        parameter = f":{self.parameter:g}" if KINDS[self.kind].unit else ""
        moment = f"{self.moment}-" if self.moment else ""
        return f"{self.kind}:{self.target}{parameter}@{moment}{self.at}"


def plan_faults(wanted: Iterable[str], topology: Topology, layout: Layout, random: Random) -> tuple[Fault, ...]:
    """The plan: each of kind:target[:parameter][@when], or random[:N] for N that are drawn. Raises FaultError.

    `when` is the number of a delivery of the run, or moment-N: behind the N-th time that the target did that. A target
    is a component, a task's id, worker-N, or one of bolt, spout, acker, worker: then one is drawn. With the same seed
    it is the same plan.
    """
    planner = _Planner(topology, layout, random)
    return tuple(fault for text in wanted for fault in planner.read(text))


class _Planner:
    def __init__(self, topology: Topology, layout: Layout, random: Random) -> None:
        self._layout = layout
        self._random = random
        queue = topology.conf.get(QUEUED)
        self._latest = min(LATEST, len(queue)) if isinstance(queue, list) and queue else LATEST
        kinds: dict[str, FaultTarget] = {name: component.kind for name, component in topology.components.items()}
        self._kinds: dict[int, FaultTarget] = {
            task: kinds.get(name, "acker") for task, name in layout.components.items()
        }

    def read(self, text: str) -> Sequence[Fault]:
        """One fault, or several that are drawn."""
        match = _SPELT.fullmatch(text)
        if match is None:
            raise FaultError(f"{text}: a fault is spelt kind:target[:parameter][@when], such as kill:split@20")
        kind, target, parameter, at = match.group("kind", "target", "parameter", "at")
        if kind == RANDOM:
            return [self._drawn() for _ in range(int(_number(text, target or "1", "a number of faults")))]
        if kind not in KINDS:
            raise FaultError(f"{text}: there is no fault {kind}; there are {', '.join(KINDS)}, {RANDOM}")
        row = KINDS[kind]
        if not target:
            raise FaultError(f"{text}: strike what? {kind} strikes {_listed(row.targets)}, or name a component")
        if parameter and not row.unit:
            raise FaultError(f"{text}: {kind} has no parameter")
        value = _number(text, parameter, "seconds" if row.unit == "s" else "times") if parameter else row.usual
        moment, _, count = (at or "").rpartition("-")
        number = int(_number(text, count, "the number of a delivery")) if at else self._random.randint(1, self._latest)
        fault = self._fault(text, kind, target, value, number)
        return [self._at(text, fault, moment)]

    def _drawn(self) -> Fault:
        possible = [
            (kind, target)
            for kind, row in KINDS.items()
            for target in row.targets
            if target == "worker" or target in self._kinds.values()
        ]
        kind, target = self._random.choice(possible)
        return self._fault(f"{kind}:{target}", kind, target, KINDS[kind].usual, self._random.randint(1, self._latest))

    def _fault(self, text: str, kind: str, target: str, parameter: float, at: int) -> Fault:
        targets = KINDS[kind].targets
        workers = self._layout.workers
        if target == "worker" or re.fullmatch(r"worker-\d+", target):
            numbers = sorted(set(workers.values()))
            worker = self._random.choice(numbers) if target == "worker" else int(target.partition("-")[2])
            if "worker" not in targets:
                raise FaultError(f"{text}: {kind} strikes {_listed(targets)}, no worker")
            if worker not in numbers:
                raise FaultError(f"{text}: there is no worker {worker}; the workers: {', '.join(map(str, numbers))}")
            return Fault(kind=kind, target=target, at=at, worker=worker, parameter=parameter)
        task = self._task(text, kind, target)
        return Fault(kind=kind, target=target, at=at, worker=workers[task], task=task, parameter=parameter)

    def _at(self, text: str, fault: Fault, moment: str) -> Fault:
        if not moment:
            return fault
        own = self._kinds[fault.task] if fault.task is not None else "worker"
        possible = [name for name, targets in MOMENTS.items() if own in targets]
        if moment not in possible:
            article = "an" if own[0] in "aeiou" else "a"
            there = f"there are {', '.join(possible)}" if possible else "it has none: give the number of a delivery"
            raise FaultError(f"{text}: {moment} is no moment of {article} {own} that a fault may come behind; {there}")
        return msgspec.structs.replace(fault, moment=moment)

    def _task(self, text: str, kind: str, target: str) -> int:
        components = self._layout.components
        named = [task for task, name in components.items() if target in (name, str(task))]
        meant = named or [task for task, what in self._kinds.items() if what == target]
        if not meant:
            names = ", ".join(dict.fromkeys(components.values()))
            raise FaultError(f"{text}: there is no {target} to strike; there are the components {names}")
        fit = [task for task in meant if self._kinds[task] in KINDS[kind].targets]
        if not fit:
            raise FaultError(f"{text}: {kind} strikes {_listed(KINDS[kind].targets)}, and {target} is none")
        return self._random.choice(fit)


def _number(text: str, number: str, what: str) -> float:
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e6:  # noqa: PLR2004 (of anything)
        raise FaultError(f"{text}: {number} is not {what}")
    return value


def _listed(targets: Sequence[str]) -> str:
    return " or ".join(targets)
