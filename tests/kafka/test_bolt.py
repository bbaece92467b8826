"""The Kafka bolt, on the mock broker that librdkafka has: driven as Storm drives it, and judged."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from multilang_cli.kafka.bolt.config import read
from multilang_cli.kafka.bolt.mapping import MappingError, record_of
from multilang_cli.kafka.command import BOLT, help_text, settings
from multilang_cli.kafka.config import KafkaConfigError
from multilang_cli.subject.options import Component, InputSource, RunOptions
from multilang_cli.suite.runner.suite_run import run_suite
from tests.command import ROOT
from tests.kafka.topics import LIMIT, SILENT, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from multilang_cli.kafka.local.broker import LocalKafka
    from multilang_cli.testing.driven import DrivenBolt

COMMAND = (sys.executable, "-m", "multilang_cli.kafka.bolt")
NEEDED = {"kafka.bolt.bootstrap.servers": "h:1", "kafka.bolt.topic": "t"}
NOWHERE = "127.0.0.1:1"
TICKS = {"topology.tick.tuple.freq.secs": 1}


@pytest.fixture
def broker() -> Iterator[str]:
    """Where a broker listens that makes topics as they are asked for, in this process."""
    keeper = Producer({"bootstrap.servers": NOWHERE, "test.mock.num.brokers": 1}, logger=SILENT)
    [node] = keeper.list_topics(timeout=LIMIT).brokers.values()
    yield f"{node.host}:{node.port}"
    keeper.flush(0)


@pytest.fixture
def bolt(shell_bolt: Callable[..., DrivenBolt]) -> Callable[..., DrivenBolt]:
    """Starts the bolt: ``bolt(servers, batch=10)``."""

    def start(servers: str, conf: dict[str, Any] | None = None, **more: object) -> DrivenBolt:
        told = {"bootstrap.servers": servers, "topic": "words", **more}
        given = {name if name.startswith("kafka.") else f"kafka.bolt.{name}": each for name, each in told.items()}
        return shell_bolt(*COMMAND, conf={**given, **(conf or {})}, sources={"split": ["key", "message"]})

    return start


def written(servers: str, count: int) -> list[tuple[bytes | None, bytes | None]]:
    """Key and value of messages of the topic, sorted."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "tests"}, logger=SILENT)
    partitions = consumer.list_topics("words", LIMIT).topics["words"].partitions
    consumer.assign([TopicPartition("words", number, 0) for number in partitions])
    found: list[tuple[bytes | None, bytes | None]] = []
    while len(found) < count:
        [message] = consumer.consume(1, LIMIT)
        found.append((message.key(), message.value()))
    consumer.close()
    return sorted(found, key=str)


@pytest.mark.parametrize(
    ("told", "fields", "values", "record"),
    [
        ({}, ["message"], ["ä"], ("t", None, "ä".encode())),
        ({}, ["word", "message", "key"], ["x", None, 7], ("t", b"7", None)),
        ({}, ["message"], [{"a": [1, "ü"]}], ("t", None, '{"a":[1,"ü"]}'.encode())),
        ({"message.field": "1", "key.field": "0"}, [], ["k", "v"], ("t", b"k", b"v")),
        ({"topic.field": "to"}, ["to", "message"], ["other", "v"], ("other", None, b"v")),
        ({}, ["word"], ["x"], "has no field 'message' for the message: its fields are word"),
        ({}, [], ["x", "y"], "it has 2 values, and Storm told no names"),
        ({"topic.field": "to"}, ["to", "message"], ["a b", "v"], "'a b' is no topic's name"),
        ({}, ["message"], ["\ud800"], "half a surrogate pair"),
    ],
)
def test_a_tuple_is_a_message(
    told: dict[str, str], fields: Sequence[str], values: list[Any], record: tuple[Any, ...] | str
) -> None:
    config = read({**NEEDED, **{f"kafka.bolt.{name}": each for name, each in told.items()}}, []).bolt
    if isinstance(record, str):
        with pytest.raises(MappingError, match=re.escape(record)):
            record_of(config, fields, values)
    else:
        assert record_of(config, fields, values) == record


@pytest.mark.parametrize(
    ("conf", "words"),
    [
        ({"kafka.bolt.topic": ""}, "kafka.bolt.topic is missing"),
        ({"kafka.bolt.topic": "a,b"}, "'a,b' is no topic's name"),
        ({"kafka.bolt.batch": 2}, "there are no ticks: what is fewer would wait for ever"),
        ({"kafka.bolt.topik": "t"}, "kafka.bolt.topik is no setting; did you mean topic?"),
        ({"kafka.client.enable.idempotence": False}, "enable.idempotence is decided by other settings: kafka.bolt.*"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(conf: dict[str, Any], words: str) -> None:
    with pytest.raises(KafkaConfigError, match=re.escape(words)):
        read({**NEEDED, **conf}, [])


def test_docs_and_help_tell_every_setting() -> None:
    text = (ROOT / "docs" / "kafka-settings.md").read_text(encoding="utf-8")
    section = text.partition("## The bolt")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    told = {name.strip(" `"): default.strip(" `") for name, default in rows}
    assert told == {name: default for name, default, _ in settings(BOLT)}
    assert all(f"\n  {name}" in help_text(BOLT) for name in told)


@pytest.mark.component
def test_a_tuple_is_acked_when_the_broker_has_it(bolt: Callable[..., DrivenBolt], broker: str) -> None:
    running = bolt(broker)
    assert running.send(["k", "v"]).done
    assert running.send(["k", None]).done
    running.tick()
    assert written(broker, 2) == [(b"k", None), (b"k", b"v")]


@pytest.mark.component
def test_a_batch_is_written_when_it_is_full_or_at_a_tick(bolt: Callable[..., DrivenBolt], broker: str) -> None:
    running = bolt(broker, TICKS, batch=2)
    running.hold(["k", "a"])
    assert running.heartbeat()
    assert running.shell.unsettled == 1
    running.send(["k", "b"])
    assert running.shell.unsettled == 0
    running.hold(["k", "c"])
    running.tick()
    assert running.shell.unsettled == 0
    assert [value for _, value in written(broker, 3)] == [b"a", b"b", b"c"]


@pytest.mark.component
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"timeout": 0.2}, "topic words: Local: Message timed out (_MSG_TIMED_OUT)"),
        ({"kafka.client.message.max.bytes": 1000}, "Message size too large (MSG_SIZE_TOO_LARGE)"),
        ({"topic": "", "topic.field": "key"}, "'k k' is no topic's name"),
    ],
)
def test_what_is_not_written_is_failed_and_said(
    bolt: Callable[..., DrivenBolt], more: dict[str, Any], words: str
) -> None:
    answer = bolt(NOWHERE, **more).send(["k k", "v" * 2000])
    assert answer.failed
    assert [each for each in answer.errors if words in each]


@pytest.mark.component
def test_more_than_the_buffer_holds_is_failed(bolt: Callable[..., DrivenBolt]) -> None:
    answer = bolt(NOWHERE, buffer=1, patience=0, timeout=3).send_all([["k", "a"], ["k", "b"]])
    assert len(answer.failed) == 2
    assert answer.failed[0] == answer.id
    said = [each for each in answer.errors if each.startswith("not written, and failed: ")]
    assert ["1 messages are under way" in each for each in said] == [True, False]


@pytest.mark.component
def test_why_the_brokers_do_not_answer_is_said_before_a_tuple_fails(bolt: Callable[..., DrivenBolt]) -> None:
    answer = bolt(NOWHERE, timeout=2).send(["k", "v"])
    assert answer.failed
    assert "refused" in answer.errors[0]
    assert [each.partition(":")[0] for each in answer.errors] == ["not written yet", "not written, and failed"]


@pytest.mark.parametrize(
    ("conf", "timeout"),
    [
        ({}, 30.0),
        ({"topology.message.timeout.secs": 5}, 5.0),
        ({"topology.message.timeout.secs": 300}, 30.0),
        ({"topology.message.timeout.secs": None}, 30.0),
        ({"topology.message.timeout.secs": 5, "kafka.bolt.timeout": 60}, 60.0),
    ],
)
def test_a_tuple_is_failed_before_storm_gives_it_up(conf: dict[str, Any], timeout: float) -> None:
    assert read({**NEEDED, **conf}, []).bolt.timeout == timeout


@pytest.mark.kafka
def test_a_topic_that_is_not_there_fails_a_tuple_soon(bolt: Callable[..., DrivenBolt], kafka: LocalKafka) -> None:
    answer = bolt(kafka.bootstrap_servers, topic="nowhere", timeout=4).send(["k", "v"])
    assert answer.failed
    assert [each for each in answer.errors if "topic nowhere: " in each and "UNKNOWN_TOPIC" in each]


@pytest.mark.kafka
def test_what_is_in_a_batch_with_a_message_that_is_too_large_is_written(
    bolt: Callable[..., DrivenBolt], kafka: LocalKafka
) -> None:
    topic = Topic(kafka, "small", partitions=1, config={"max.message.bytes": "2000"})
    running = bolt(kafka.bootstrap_servers, topic="small", **{"kafka.client.linger.ms": 300})
    answer = running.send_all([["k", "a"], ["k", "z" * 5000], ["k", "b"]])
    assert len(answer.failed) == 1
    assert [each for each in answer.errors if "topic small: Broker: Message size too large" in each]
    assert {message.value() for message in topic.read(0, 2)} == {b"a", b"b"}


@pytest.mark.kafka
@pytest.mark.timeout(900)
def test_the_suite_finds_nothing(broker: str, tmp_path: Path) -> None:
    told = {"bootstrap.servers": broker, "topic": "words"}
    component = Component(
        command=COMMAND,
        kind="bolt",
        conf={f"kafka.bolt.{name}": value for name, value in told.items()},
        sources=(InputSource("split", "default", ("key", "message"), (["k", "v"],)),),
        accepts=("ticks", "text", "large", "integers", "floats", "null", "nested", "empty"),
    )
    result = run_suite(component, RunOptions(record=str(tmp_path), strict=True, jobs=2))
    assert {s.id: (s.verdict, s.reason) for s in result.subjects if s.verdict not in {"pass", "skip"}} == {}
    assert sum(s.verdict == "pass" for s in result.subjects) > len(result.subjects) / 2
