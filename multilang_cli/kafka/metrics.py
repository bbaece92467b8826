"""Progress and lag of each partition, as numbers: for the worker's log, Storm's metrics and Prometheus."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.transcript.private import USUAL_FILE, whole_file

if TYPE_CHECKING:
    from collections.abc import Mapping

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


COUNTERS = frozenset({"emitted", "acked", "failed", "given_up", "lost"})
"""Numbers that only grow."""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")


def prometheus_text(labels: Mapping[str, str], partitions: Mapping[int, PartitionMetrics]) -> str:
    """Write the numbers in Prometheus' text format. `labels`: of all of them."""
    lines = []
    for name in PartitionMetrics.__struct_fields__:
        counts = name in COUNTERS
        title = f"mlcheck_kafka_{name}{'_total' if counts else ''}"
        lines.append(f"# TYPE {title} {'counter' if counts else 'gauge'}")
        for partition, numbers in partitions.items():
            told = {**labels, "partition": str(partition)}
            shown = ",".join(f'{label}="{_label(value)}"' for label, value in told.items())
            lines.append(f"{title}{{{shown}}} {getattr(numbers, name)}")
    return "".join(f"{line}\n" for line in lines)


def _label(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def write_prometheus(folder: str, labels: Mapping[str, str], text: str) -> None:
    """Replace the file of these labels, whole, in a folder of node_exporter's textfile collector. Raises OSError.

    It is a file like others: node_exporter, which reads it, is another user.
    """
    path = Path(folder) / f"{_UNFIT.sub('_', '-'.join(labels.values()))}.prom"
    with whole_file(path, "w", permissions=USUAL_FILE, encoding="utf-8") as file:
        file.write(text)
