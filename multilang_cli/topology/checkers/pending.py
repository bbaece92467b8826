"""Pending emissions of spouts, counted by the tasks that share a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from multilang_cli.topology.history import EmissionEnded, Emitted

    Tasks = tuple[int, ...]


class PendingEmissions:
    """Emissions with a root that have not ended. `count`: by tasks that share a limit."""

    def __init__(self, groups: Iterable[Tasks]) -> None:
        self.count = dict.fromkeys(groups, 0)
        self._group = {task: tasks for tasks in self.count for task in tasks}
        self._open: dict[int, Tasks] = {}

    def group_of(self, task: int) -> Tasks | None:
        """The tasks that share a limit with this one, it among them; None if it has none."""
        return self._group.get(task)

    def emitted(self, event: Emitted) -> Tasks | None:
        """Count one more; the tasks of which it is pending, None if it never is."""
        tasks = self._group.get(event.task)
        if tasks is None or event.root is None:
            return None
        self._open[event.n] = tasks
        self.count[tasks] += 1
        return tasks

    def ended(self, event: EmissionEnded) -> Tasks | None:
        """Count one less; the tasks of which it was pending."""
        if (tasks := self._open.pop(event.emit, None)) is not None:
            self.count[tasks] -= 1
        return tasks

    def died(self, gone: Collection[int]) -> set[Tasks]:
        """With a task, all that was pending of it is gone; the tasks of which that is so."""
        groups = {self._group[task] for task in gone if task in self._group}
        self.count |= dict.fromkeys(groups, 0)
        self._open = {n: tasks for n, tasks in self._open.items() if tasks not in groups}
        return groups
