"""What happens to a topic under a spout that reads it, and topics that are not as most are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from tests.kafka.topics import SILENT, Topic, ids_of, logs_of, next_until, read_all, values_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.kafka.local.broker import LocalKafka
    from multilang_cli.testing.driven import DrivenSpout

pytestmark = pytest.mark.kafka

LIMIT = 30.0
BIG = 256 * 1024
LITTLE_AHEAD = {
    "kafka.client.queued.min.messages": 1,
    "kafka.client.queued.max.messages.kbytes": 1,
    "kafka.client.fetch.message.max.bytes": 1000,
    "prefetch": 1,
}
"""What makes the client fetch next to nothing in advance."""


def big(number: int) -> bytes:
    return b"%d " % number + b"x" * BIG


def first_words(values: list[str]) -> list[int]:
    return [int(text.split()[0]) for text in values]


def test_records_deleted_under_it_are_counted_and_named(spout: Callable[..., DrivenSpout], kafka: LocalKafka) -> None:
    topic = Topic(kafka, "segments", 1, {"segment.bytes": str(1024 * 1024)})
    topic.fill(0, [big(number) for number in range(16)])
    running = spout(topic=topic.name, id=topic.name, metrics=1e-9, **LITTLE_AHEAD)
    answers = read_all(running, 1)
    topic.cut(0, 12)
    answers += read_all(running, 4 - sum(first_words(values_of(answers))) // 12)
    while 15 not in first_words(values_of(answers)):
        answers += read_all(running, 1)
    numbers = first_words(values_of(answers))
    read = [number for number in numbers if number < 12]
    assert numbers == [*range(len(read)), 12, 13, 14, 15]
    gone = f"{12 - len(read)} offsets ({len(read)}-11) were deleted unread; from the earliest, 12"
    assert any(gone in line for line in logs_of(answers))
    assert f'"lost": {12 - len(read)}' in next_until(running, "kafka {")[-1].logs[-1]


def test_offsets_that_hold_no_message_are_passed_over(spout: Callable[..., DrivenSpout], kafka: LocalKafka) -> None:
    topic = Topic(kafka, "compacted", 1, {"cleanup.policy": "compact"})
    producer = Producer(
        {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": topic.name, "linger.ms": 0}, logger=SILENT
    )
    producer.init_transactions(LIMIT)
    for text, kept in ((b"a", True), (b"lost", False), (b"b", True)):
        producer.begin_transaction()
        producer.produce(topic.name, text, b"k", 0)
        producer.flush(LIMIT)
        (producer.commit_transaction if kept else producer.abort_transaction)(LIMIT)
    topic.fill(0, [None], key=b"k")
    topic.fill(0, [b"c"], key=b"k")
    running = spout(topic=topic.name, id=topic.name)
    ids = ids_of(read_all(running, 3))
    assert list(ids) == ["a", "b", "c"]
    assert [id_.split(":")[2] for id_ in ids.values()] == ["0", "4", "7"]
    for id_ in ids.values():
        running.ack(id_)
    running.deactivate()
    assert topic.committed(0)[0] == 8


def test_a_partition_that_is_new_is_read_from_its_beginning(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    running = spout(start="latest", refresh=0.2)
    next_until(running, "partition 1: nothing is stored: from the end, 0")
    topic.grow(3)
    topic.fill(2, [b"early"])
    answers = read_all(running, 1)
    assert values_of(answers) == ["early"]
    assert "partition 2: new while this task runs: from the earliest, 0" in logs_of(answers)


def test_a_static_list_is_read_and_not_asked_for_again(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.grow(4)
    for partition in range(4):
        topic.fill(partition, [b"m%d" % partition])
    running = spout(partitions=[1, 3], refresh=0.01)
    assert sorted(values_of(read_all(running, 2))) == ["m1", "m3"]
    topic.grow(5)
    topic.fill(4, [b"m4"])
    topic.fill(1, [b"last"])
    assert values_of(read_all(running, 1)) == ["last"]


def test_a_partition_that_does_not_exist_holds_up_no_other(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(1, [b"m"])
    answers = read_all(spout(partitions=[0, 1, 9]), 1)
    assert values_of(answers) == ["m"]
    assert any(line.startswith("partition 9: ") for line in logs_of(answers))


def test_the_end_is_stored_before_anything_is_read(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, [b"old"])
    first = spout(start="uncommitted-latest")
    next_until(first, "partition 0: nothing is stored: from the end, 1")
    first.deactivate()
    first.end()
    topic.fill(0, [b"new"])
    assert values_of(read_all(spout(start="uncommitted-latest"), 1)) == ["new"]


def test_what_is_acked_after_the_deactivation_is_stored_at_the_end(
    spout: Callable[..., DrivenSpout], topic: Topic
) -> None:
    topic.fill(0, [b"a", b"b"])
    running = spout()
    ids = ids_of(read_all(running, 2))
    running.deactivate()
    running.ack(ids["a"])
    running.end()
    assert topic.committed(0)[0] == 1


class TestStorm093:
    """The traps of the old spout, on a real broker."""

    def test_a_fresh_one_begins_at_the_end(self, spout: Callable[..., DrivenSpout], topic: Topic) -> None:
        topic.fill(0, [b"old"])
        running = spout(profile="storm-0.9.3")
        next_until(running, "partition 0: nothing is stored: from the end, 1")
        topic.fill(0, [b"new"])
        assert values_of(read_all(running, 1)) == ["new"]

    def test_what_is_out_of_range_skips_to_the_end(self, spout: Callable[..., DrivenSpout], kafka: LocalKafka) -> None:
        topic = Topic(kafka, "segments-0.9.3", 1, {"segment.bytes": str(1024 * 1024)})
        running = spout(topic=topic.name, id=topic.name, profile="storm-0.9.3", **LITTLE_AHEAD)
        next_until(running, "from the end, 0")
        topic.fill(0, [big(number) for number in range(16)])
        read_all(running, 1)
        topic.cut(0, 12)
        said = logs_of(next_until(running, "is out of range"))[-1]
        assert said.endswith("from the end, 16")
        topic.fill(0, [b"new"])
        assert values_of(read_all(running, 1)) == ["new"]

    def test_what_always_fails_comes_again_at_once_and_for_ever(
        self, spout: Callable[..., DrivenSpout], topic: Topic
    ) -> None:
        topic.fill(0, [b"poison", b"good"])
        running = spout(profile="storm-0.9.3", **{"force.from.start": True, "retry.limit": 2, "retry.initial": 60})
        id_ = ids_of(read_all(running, 2))["poison"]
        for _ in range(20):
            running.fail(id_)
            assert ids_of([running.next()]) == {"poison": id_}

    def test_the_start_is_not_stored(self, spout: Callable[..., DrivenSpout], topic: Topic) -> None:
        first = spout(profile="storm-0.9.3")
        next_until(first, "partition 0: nothing is stored: from the end, 0")
        first.deactivate()
        first.end()
        topic.fill(0, [b"lost"])
        next_until(spout(profile="storm-0.9.3"), "partition 0: nothing is stored: from the end, 1")
