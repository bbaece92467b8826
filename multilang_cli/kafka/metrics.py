"""Progress and lag of each partition, as numbers for people, for the worker's log and for Storm's metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from multilang_cli.kafka.partition_manager import PartitionManager


class PartitionMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """One partition. Offsets as Kafka counts them: `latest` is the next that will be written.

    `lag`: messages between what may be stored and the end. `lost`: offsets that were skipped or deleted unread.
    """

    lag: int
    earliest: int
    latest: int
    emitted_to: int
    completed_to: int
    committed_to: int
    pending: int
    emitted: int
    acked: int
    failed: int
    given_up: int
    lost: int


def metrics_of(manager: PartitionManager, earliest: int, latest: int, lost: int) -> PartitionMetrics:
    """The numbers of a partition whose ends are these."""
    done = manager.last_completed
    return PartitionMetrics(
        lag=max(0, latest - done),
        earliest=earliest,
        latest=latest,
        emitted_to=manager.emitted_to,
        completed_to=done,
        committed_to=manager.committed_to,
        pending=manager.pending,
        emitted=manager.emitted,
        acked=manager.acked,
        failed=manager.failed,
        given_up=manager.given_up,
        lost=lost,
    )
