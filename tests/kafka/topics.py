"""Topics for tests: made, filled, cut and looked at."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tests.processes import until

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from multilang_cli.kafka.local.broker import LocalKafka
    from multilang_cli.testing.driven import Answer, DrivenSpout

LIMIT = 30.0
SILENT = logging.getLogger("tests.kafka")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False


class Topic:
    """One topic. `client`: what clients need for this broker; `config`: settings of the topic."""

    def __init__(
        self,
        kafka: LocalKafka,
        name: str,
        partitions: int,
        config: Mapping[str, str] | None = None,
        client: Mapping[str, str] | None = None,
    ) -> None:
        self.kafka = kafka
        self.name = name
        self._settings: dict[str, str | int | float | bool] = {"bootstrap.servers": kafka.bootstrap_servers}
        self._settings |= client or {}
        self._admin = AdminClient(self._settings, logger=SILENT)
        self.create(partitions, config)

    def create(self, partitions: int, config: Mapping[str, str] | None = None) -> None:
        """Make it."""
        new = NewTopic(self.name, partitions, min(3, len(self.kafka.brokers)), config=dict(config or {}))
        self._admin.create_topics([new])[self.name].result(LIMIT)

    def delete(self) -> None:
        """Delete it."""
        self._admin.delete_topics([self.name])[self.name].result(LIMIT)

    def grow(self, partitions: int) -> None:
        """Have so many partitions from now on."""
        self._admin.create_partitions([NewPartitions(self.name, partitions)])[self.name].result(LIMIT)

    def fill(
        self,
        partition: int,
        values: Iterable[bytes | None],
        key: bytes | None = None,
        headers: list[tuple[str, str | bytes | None]] | None = None,
    ) -> None:
        """Write messages, and wait until they are there."""
        producer = Producer({**self._settings, "linger.ms": 5, "message.max.bytes": 2_000_000}, logger=SILENT)
        for value in values:
            producer.produce(self.name, value, key, partition, headers=headers)
            producer.poll(0)
        assert producer.flush(LIMIT) == 0

    def fill_in_transactions(self, partition: int, transactions: Iterable[tuple[Iterable[bytes | None], bool]]) -> None:
        """Write the messages of each transaction, and commit it; or abort it, where False stands beside them."""
        producer = Producer({**self._settings, "transactional.id": self.name}, logger=SILENT)
        producer.init_transactions(LIMIT)
        for values, commit in transactions:
            producer.begin_transaction()
            for value in values:
                producer.produce(self.name, value, partition=partition)
            producer.flush(LIMIT)
            (producer.commit_transaction if commit else producer.abort_transaction)(LIMIT)

    def end(self, partition: int) -> int:
        """The offset that is written next."""
        consumer = Consumer({**self._settings, "group.id": "tests"}, logger=SILENT)
        _, latest = consumer.get_watermark_offsets(TopicPartition(self.name, partition), LIMIT)
        consumer.close()
        return latest

    def leader(self, partition: int) -> int:
        """The number of the broker that leads a partition."""
        return self._admin.list_topics(self.name, LIMIT).topics[self.name].partitions[partition].leader

    def cut(self, partition: int, before: int) -> None:
        """Delete the records before an offset."""
        place = TopicPartition(self.name, partition, before)
        for done in self._admin.delete_records([place]).values():
            done.result(LIMIT)

    def read(self, partition: int, count: int) -> list[Message]:
        """The first messages of a partition."""
        settings = {**self._settings, "group.id": "tests", "enable.auto.commit": False}
        consumer = Consumer(settings, logger=SILENT)
        consumer.assign([TopicPartition(self.name, partition, 0)])
        found = consumer.consume(count, LIMIT)
        consumer.close()
        return found

    def committed(self, partition: int, group: str = "") -> tuple[int, dict[str, Any]]:
        """What the group has committed, and its metadata."""
        consumer = Consumer({**self._settings, "group.id": group or self.name}, logger=SILENT)
        [found] = consumer.committed([TopicPartition(self.name, partition)], LIMIT)
        consumer.close()
        return found.offset, json.loads(found.metadata or "{}")


def read_all(spout: DrivenSpout, count: int) -> list[Answer]:
    """Call next until so many tuples came. Fails if they don't."""
    answers: list[Answer] = []
    if until(lambda: _called(spout, answers) and sum(len(each.emits) for each in answers) >= count):
        return answers
    came = sum(len(each.emits) for each in answers)
    raise AssertionError(f"{came} of {count} tuples came in {len(answers)} calls of next")


def next_until(spout: DrivenSpout, words: str) -> list[Answer]:
    """Call next until a log line has these words. Fails if none has."""
    answers: list[Answer] = []
    if until(lambda: _called(spout, answers) and any(words in line for line in answers[-1].logs)):
        return answers
    raise AssertionError(f"nobody said {words!r} in {len(answers)} calls of next: {logs_of(answers)}")


def _called(spout: DrivenSpout, answers: list[Answer]) -> bool:
    answers.append(spout.next())
    return True


def values_of(answers: Iterable[Answer]) -> list[Any]:
    """The first value of each tuple, in order."""
    return [emit.values[0] for answer in answers for emit in answer.emits]


def logs_of(answers: Iterable[Answer]) -> list[str]:
    """What was logged, in order."""
    return [text for answer in answers for text in answer.logs]


def ids_of(answers: Iterable[Answer]) -> Mapping[str, Any]:
    """The id of each tuple, by its first value."""
    return {emit.values[0]: emit.id for answer in answers for emit in answer.emits}
