"""Numbers of a spout's partitions, and what is stored beside its progress, without a broker."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from multilang_cli.kafka.metrics import metrics_of, prometheus_text, write_prometheus
from multilang_cli.kafka.partition_manager import KafkaRecord, PartitionManager
from multilang_cli.kafka.retry import Backoff
from multilang_cli.kafka.scheme import read
from multilang_cli.kafka.start import GivenUp
from multilang_cli.kafka.stores.progress import CommitMetadata

if TYPE_CHECKING:
    from pathlib import Path


def test_prometheus_gets_each_number_with_its_labels(tmp_path: Path) -> None:
    manager = PartitionManager(3, 5, read("json"), Backoff(), max_uncommitted=10, max_bytes=1000)
    manager.take([KafkaRecord(5, b"{"), KafkaRecord(6, b"1")])
    manager.next(0)
    labels = {"id": 'a"b\\', "topic": "t", "task": "4"}
    text = prometheus_text(labels, {3: metrics_of(manager, 0, 20, 2)})
    lines = text.splitlines()
    told = r'{id="a\"b\\",topic="t",task="4",partition="3"}'
    assert lines[:2] == ["# TYPE mlcheck_kafka_lag gauge", f"mlcheck_kafka_lag{told} 15"]
    assert lines[-4:] == [
        "# TYPE mlcheck_kafka_given_up_total counter",
        f"mlcheck_kafka_given_up_total{told} 1",
        "# TYPE mlcheck_kafka_lost_total counter",
        f"mlcheck_kafka_lost_total{told} 2",
    ]
    write_prometheus(str(tmp_path), labels, text)
    assert [each.name for each in tmp_path.iterdir()] == ["a_b_-t-4.prom"]
    assert (tmp_path / "a_b_-t-4.prom").read_text(encoding="utf-8") == text


def test_what_was_given_up_is_stored_as_storm_reads_it() -> None:
    owner = CommitMetadata("topology-1", 4)
    assert json.loads(owner.told(None)) == {"topologyId": "topology-1", "taskId": 4}
    lost = GivenUp(2, 7, "no JSON")
    assert CommitMetadata.read(owner.told(lost)) == CommitMetadata("topology-1", 4, lost)


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"topologyId": 7}', "\udcff"])
def test_metadata_of_somebody_else_is_none(text: str | None) -> None:
    assert CommitMetadata.read(text) == CommitMetadata()


def test_the_last_that_was_given_up_is_kept_with_its_reason() -> None:
    manager = PartitionManager(3, 5, read("string"), Backoff(limit=0), max_uncommitted=10, max_bytes=1000)
    manager.take([KafkaRecord(5, b"\xff"), KafkaRecord(6, b"a")])
    assert manager.next(0).refused == manager.last_refused
    manager.fail(manager.next(0).tuples[0][1], 0)
    assert manager.last_refused is not None
    assert (manager.given_up, manager.last_refused.record.offset) == (2, 6)
    assert manager.last_refused.why == "failed 1 times"
