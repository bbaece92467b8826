"""Emits of the Kafka spout, without a broker."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from multilang_cli.kafka import scheme
from multilang_cli.kafka.config import read
from multilang_cli.kafka.partition_manager import KafkaRecord, PartitionManager
from multilang_cli.kafka.retry import Backoff
from multilang_cli.kafka.spout import KafkaSpout

if TYPE_CHECKING:
    from multilang_cli.kafka.partitions import AssignedPartitions
    from multilang_cli.kafka.topics import Topics

NEEDED = {"kafka.spout.bootstrap.servers": "h:1", "kafka.spout.topic": "t"}


class Said(KafkaSpout):
    """Keeps what it says."""

    def __init__(self, **settings: Any) -> None:
        super().__init__([])
        self._config = read({**NEEDED, **{f"kafka.spout.{name}": each for name, each in settings.items()}}, []).spout
        self._tracked, self._limit, self._several = True, 100, self._config.several
        self._topics = cast("Topics", dict.fromkeys(self._config.topics, self))
        self.said: list[Any] = []

    def _write(self, message: Any, *, more: bool = False) -> None:
        del more
        self.said.append(message)


def test_ids_name_their_topic_where_there_are_several() -> None:
    spout = Said(topic="a,b")
    manager = PartitionManager(3, 0, scheme.read("string"), Backoff(), max_uncommitted=10, max_bytes=1000)
    manager.take([KafkaRecord(0, b"x")])
    partitions = cast("AssignedPartitions", SimpleNamespace(topic="b", next=manager.next, manager={3: manager}.get))
    spout._topics = cast("Topics", {"b": partitions})
    spout._emit_some(partitions, 0)
    [said] = spout.said
    assert said["id"] == "b:3:0:0:0:0"
    assert spout._found("b:3:0:0:0:0")[0] is manager
    assert spout._found("c:3:0:0:0:0") == spout._found("b:garbage") == (None, None)


def test_each_tuple_goes_to_the_stream_that_its_function_chose() -> None:
    spout = Said(stream="words")
    reading = scheme.read("python:tests.kafka.schemes:by_length")
    manager = PartitionManager(3, 0, reading, Backoff(), max_uncommitted=10, max_bytes=1000)
    manager.take([KafkaRecord(0, b"a snow b")])
    assert spout._emit_some(cast("AssignedPartitions", manager), 0)
    assert [(each.get("stream"), each["tuple"], each["id"]) for each in spout.said] == [
        ("words", ["a"], "3:0:0:0:0"),
        ("long", ["snow"], "3:0:0:0:1"),
        ("words", ["b"], "3:0:0:0:2"),
    ]
