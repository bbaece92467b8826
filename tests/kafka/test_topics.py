"""Topics by a pattern: which there are, those that come and those that go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from multilang_cli.kafka.config import KafkaConfigError, matching
from multilang_cli.kafka.lag import lag_of
from tests.command import mlcheck
from tests.kafka.topics import LIMIT, Topic, ids_of, logs_of, next_until, read_all, values_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.testing.driven import DrivenSpout

NAMES = ("orders-b", "orders", "old-orders", "__consumer_offsets", "orders-a")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("^orders", ["orders", "orders-a", "orders-b"]),
        ("^orders$", ["orders"]),
        ("^(old-)?orders-?[a]?$", ["old-orders", "orders", "orders-a"]),
        ("^.*", ["old-orders", "orders", "orders-a", "orders-b"]),
        ("^__", ["__consumer_offsets"]),
    ],
)
def test_a_pattern_is_what_names_begin_with(pattern: str, found: list[str]) -> None:
    assert matching(pattern, NAMES) == found


def test_what_is_no_regular_expression_is_a_sentence() -> None:
    with pytest.raises(KafkaConfigError, match=re.escape("kafka.spout.topic: '^orders(' is no regular expression")):
        matching("^orders(", NAMES)


@pytest.mark.kafka
def test_topics_that_match_come_and_go(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    name, kafka = topic.name, topic.kafka
    topic.fill(0, [b"a0"])
    Topic(kafka, f"other.{name}", partitions=1).fill(0, [b"no"])
    running = spout(topic=f"^{name}", refresh=0.2, start="latest", **{"given.up": f"topic:{name}.dead"})
    said = logs_of(next_until(running, "partition 1: nothing is stored: from the end"))
    assert f"topics that match ^{name}: {name}" in said

    second = Topic(kafka, f"{name}.b", partitions=1)
    Topic(kafka, f"{name}.dead", partitions=1).fill(0, [b"dead"])
    second.fill(0, [b"b0", b"b1", b"\xff"])
    answers = next_until(running, f"given up: topic {name}.b, partition 0: message 2")
    assert values_of(answers) == ["b0", "b1"]
    assert f"new: topics that match ^{name}: {name}.b" in logs_of(answers)
    old = ids_of(answers)
    assert old["b0"].startswith(f"{name}.b:0:")

    second.delete()
    next_until(running, f"topic {name}.b is gone")
    second.create(1)
    second.fill(0, [b"b0", b"b1"])
    anew = ids_of(read_all(running, 2))
    assert anew.keys() == {"b0", "b1"}
    running.ack(old["b0"])
    running.ack(old["b1"])
    running.ack(anew["b0"])
    running.deactivate()
    assert second.committed(0, name)[0] == 1


@pytest.mark.kafka
def test_where_nothing_matches_it_is_said_and_storm_is_answered(
    spout: Callable[..., DrivenSpout], topic: Topic
) -> None:
    running = spout(topic="^none-such")
    answers = next_until(running, "no topic matches ^none-such")
    assert values_of([*answers, running.next()]) == []
    running.deactivate()
    away = spout(**{"topic": f"^{topic.name}", "bootstrap.servers": "127.0.0.1:1"})
    next_until(away, "Connection refused")


@pytest.mark.kafka
def test_lag_of_several_topics_is_told(topic: Topic, tmp_path: Path) -> None:
    other = Topic(topic.kafka, f"{topic.name}.b", partitions=1)
    other.fill(0, [b"a"])
    servers = topic.kafka.bootstrap_servers
    both = [(topic.name, 0, 0), (topic.name, 1, 0), (other.name, 0, 1)]
    for named in (f"{topic.name},{other.name}", f"^{topic.name}"):
        found = lag_of(servers, named, "g", {}, LIMIT)
        assert [(each.topic, each.partition, each.latest) for each in found] == both
    shown = mlcheck("kafka", "lag", f"^{topic.name}", "-b", servers, cwd=tmp_path)
    assert [line.split()[:2] for line in shown.stdout.splitlines()] == [
        ["topic", "partition"],
        [topic.name, "0"],
        [topic.name, "1"],
        [other.name, "0"],
    ]
