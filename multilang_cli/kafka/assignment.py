"""Partitions shared out among a spout's tasks (``KafkaUtils.calculatePartitionsForTask``). Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence


class Assignment(msgspec.Struct, frozen=True):
    """The partitions of one task, in order. `warning`: a sentence if some task will be idle, else empty."""

    partitions: tuple[int, ...]
    warning: str = ""


def partitions_for_task(partitions: Sequence[int], total_tasks: int, task_index: int) -> Assignment:
    """The task of this index takes every `total_tasks`-th partition of the ordered list, from its own index on.

    The index counts in the list, not in partition ids: of a partial static list [3, 5, 9], task 1 of 2 reads 5.
    Raises ValueError if the index is not below the number of tasks.
    """
    if not 0 <= task_index < total_tasks:
        raise ValueError(f"the task's index is {task_index}, and there are {total_tasks} tasks: it must be below")
    ordered = sorted(set(partitions))
    mine = tuple(ordered[task_index::total_tasks])
    return Assignment(mine, _warning(len(ordered), total_tasks, task_index, idle=not mine))


def _warning(partitions: int, tasks: int, index: int, *, idle: bool) -> str:
    if partitions >= tasks:
        return ""
    some = f"there are more tasks than partitions (tasks: {tasks}; partitions: {partitions}), some tasks will be idle"
    return f"{some}; no partitions assigned to task {index + 1} of {tasks}" if idle else some
