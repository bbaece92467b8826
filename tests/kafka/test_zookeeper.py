"""Progress in a real ZooKeeper, as Storm 0.9.3's KafkaSpout keeps it: people can move here, and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from kazoo.client import KazooClient

from tests.kafka.topics import Topic, ids_of, logs_of, next_until, read_all, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.testing.driven import DrivenSpout

pytestmark = pytest.mark.kafka


@pytest.fixture
def client(zookeeper: str) -> Iterator[KazooClient]:
    """Looks into ZooKeeper."""
    found = KazooClient(zookeeper)
    found.start(30)
    yield found
    found.stop()
    found.close()


def test_progress_is_written_as_storm_0_9_3_did(
    spout: Callable[..., DrivenSpout], topic: Topic, zookeeper: str, client: KazooClient
) -> None:
    topic.fill(0, [b"a", b"b"])
    running = spout(progress=f"zookeeper:{zookeeper}/storm/kafka")
    running.ack(ids_of(read_all(running, 2))["a"])
    running.deactivate()
    text, _ = client.get(f"/storm/kafka/{topic.name}/partition_0")
    state = json.loads(text)
    assert state.keys() == {"topology", "offset", "partition", "broker", "topic"}
    assert (state["offset"], state["partition"], state["topic"]) == (1, 0, topic.name)
    assert state["topology"].keys() == {"id", "name"}
    assert f"{state['broker']['host']}:{state['broker']['port']}" == topic.kafka.bootstrap_servers


def test_progress_of_the_old_spout_is_taken_over(
    spout: Callable[..., DrivenSpout], topic: Topic, zookeeper: str, client: KazooClient
) -> None:
    topic.fill(0, [b"a", b"b", b"c"])
    old = {"topology": {"id": "8a1c", "name": "old"}, "offset": 2, "partition": 0}
    old |= {"broker": {"host": "h", "port": 9092}, "topic": topic.name}
    client.create(f"/storm/{topic.name}/partition_0", json.dumps(old).encode(), makepath=True)
    answers = read_all(spout(progress=f"zookeeper:{zookeeper}/storm"), 1)
    assert values_of(answers) == ["c"]
    assert any("from the stored offset 2" in line for line in logs_of(answers))


def test_a_node_that_is_no_progress_is_said_and_nothing_is_read(
    spout: Callable[..., DrivenSpout], topic: Topic, zookeeper: str, client: KazooClient
) -> None:
    topic.fill(0, [b"a"])
    client.create(f"/bad/{topic.name}/partition_0", b"nonsense", makepath=True)
    running = spout(progress=f"zookeeper:{zookeeper}/bad")
    answers = next_until(running, "holds no progress")
    assert values_of(answers) == []
    assert any("holds no progress of a Kafka spout" in line for line in logs_of(answers))


def test_zookeeper_that_is_away_is_said_and_storm_is_answered(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, [b"a"])
    running = spout(progress="zookeeper:127.0.0.1:1/storm")
    answers = next_until(running, "ZooKeeper at")
    assert values_of(answers) == []
    assert any("ZooKeeper at 127.0.0.1:1 does not answer" in line for line in logs_of(answers))
