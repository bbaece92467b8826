"""Coordinators of a task's partitions (``StaticCoordinator``, ``ZkCoordinator``). Pure.

A coordinator is told the topic's partitions and keeps a manager for each that is this task's. Kafka's clients follow
leaders by themselves: a partition whose leader changes keeps its manager, and with it what is pending.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.kafka.assignment import partitions_for_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.kafka.partition_manager import PartitionManager


class RefreshChange(NamedTuple):
    """Changes by a refresh: partitions to be opened, managers that were closed, and a warning, "" for none."""

    opened: tuple[int, ...] = ()
    closed: tuple[PartitionManager, ...] = ()
    warning: str = ""


class Coordinator:
    """Keeps the managers of one task. `static`: partitions that were declared; then they are never asked for.

    `every`: seconds between refreshes, 0 for none but after a failed fetch.
    """

    def __init__(self, index: int, total: int, *, static: Sequence[int] | None, every: float) -> None:
        self.managers: dict[int, PartitionManager] = {}
        self.to_open: list[int] = []
        self._index = index
        self._total = total
        self._static = static
        self._every = every
        self._next: float | None = None
        self._warned = ""

    def due(self, now: float) -> bool:
        """True if the partitions are to be asked for again."""
        return self._next is None or (self._static is None and bool(self._every) and now >= self._next)

    def failed(self) -> None:
        """A fetch failed: ask again at once (``KafkaSpout.nextTuple``)."""
        if self._static is None:
            self._next = None

    def refresh(self, partitions: Sequence[int], now: float) -> RefreshChange:
        """The topic's partitions, as they are now; those of the static list, where there is one."""
        self._next = now + self._every
        mine = partitions_for_task(partitions if self._static is None else self._static, self._total, self._index)
        gone = [number for number in self.managers if number not in mine.partitions]
        closed = tuple(self.managers.pop(number) for number in gone)
        self.to_open = [number for number in mine.partitions if number not in self.managers]
        warning = mine.warning if mine.warning != self._warned else ""
        self._warned = mine.warning
        return RefreshChange(tuple(self.to_open), closed, warning)

    def opened(self, manager: PartitionManager) -> None:
        """A partition has its manager."""
        self.managers[manager.partition] = manager
        self.to_open.remove(manager.partition)
