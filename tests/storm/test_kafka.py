"""The Kafka spout in a real Storm: FluxShellSpout starts it, ShellSpout drives it, acks come back to Kafka."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.kafka.topics import Topic
from tests.storm import cluster as storm

if TYPE_CHECKING:
    from multilang_cli.kafka.local.broker import LocalKafka
    from tests.storm.cluster import Cluster

pytestmark = [pytest.mark.storm, pytest.mark.timeout(900)]

COUNT = 400
PARTITIONS = 4


def flux(topic: Topic, **settings: Any) -> dict[str, Any]:
    """Two tasks of the spout, and a bolt of Storm's."""
    told = {"bootstrap.servers": topic.kafka.bootstrap_servers, "topic": topic.name, "id": topic.name, **settings}
    command = [sys.executable, "-m", "multilang_cli.kafka", *(f"{name}={value}" for name, value in told.items())]
    return {
        "config": {"topology.acker.executors": 1, "topology.max.spout.pending": 50},
        "spouts": [{**storm.shell("kafka", "Spout", command, ["message"]), "parallelism": 2}],
        "bolts": [storm.sink("log")],
        "streams": [storm.link("kafka", "log")],
    }


def test_every_message_is_acked_once_and_progress_is_stored(cluster: Cluster, kafka: LocalKafka) -> None:
    topic = Topic(kafka, "in-storm", PARTITIONS)
    for partition in range(PARTITIONS):
        topic.fill(partition, [b"m%d" % number for number in range(partition, COUNT, PARTITIONS)])
    run = cluster.run(flux(topic), storm.settled(COUNT))
    assert (run.death, run.errors, run.failed, run.killed) == (None, [], [], [])
    assert sorted(int(value[1:]) for [value] in run.received("log")) == list(range(COUNT))
    assert [topic.committed(partition)[0] for partition in range(PARTITIONS)] == [COUNT // PARTITIONS] * PARTITIONS


def test_settings_that_make_no_sense_are_a_sentence_in_storm(cluster: Cluster, kafka: LocalKafka) -> None:
    topic = Topic(kafka, "in-vain", 1)
    run = cluster.run(flux(topic, profile="modern"), lambda run: bool(run.errors))
    said = " ".join(text for error in run.errors for text in error) + str(run.death)
    assert "mlcheck-kafka-spout: kafka.spout.profile: " in said
    assert "Traceback" not in said
