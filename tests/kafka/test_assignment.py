"""Partitions to tasks: each partition to one task, as evenly as can be, for every number of both."""

from __future__ import annotations

import pytest

from multilang_cli.kafka.assignment import partitions_for_task


@pytest.mark.parametrize("tasks", range(1, 17))
def test_each_partition_has_one_task_and_tasks_are_even(tasks: int) -> None:
    for partitions in range(65):
        shares = [partitions_for_task(range(partitions), tasks, index) for index in range(tasks)]
        assert sorted(number for share in shares for number in share.partitions) == list(range(partitions))
        assert {len(share.partitions) for share in shares} <= {partitions // tasks, -(-partitions // tasks)}
        assert all(number % tasks == index for index, share in enumerate(shares) for number in share.partitions)
        assert [bool(share.warning) for share in shares] == [partitions < tasks] * tasks


def test_a_partial_list_is_shared_by_place_and_not_by_number() -> None:
    assert partitions_for_task([9, 3, 5], 2, 0).partitions == (3, 9)
    assert partitions_for_task([9, 3, 5], 2, 1).partitions == (5,)


def test_the_idle_task_is_warned_of_itself() -> None:
    said = "there are more tasks than partitions (tasks: 3; partitions: 2), some tasks will be idle"
    assert partitions_for_task([0, 1], 3, 0).warning == said
    assert partitions_for_task([0, 1], 3, 2).warning == f"{said}; no partitions assigned to task 3 of 3"


@pytest.mark.parametrize("index", [-1, 2])
def test_an_index_beyond_the_tasks_is_refused(index: int) -> None:
    with pytest.raises(ValueError, match="must be below"):
        partitions_for_task([0], 2, index)
