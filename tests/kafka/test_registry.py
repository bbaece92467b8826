"""Avro, Protobuf and JSON Schema by the client library's own deserializers, with a schema registry."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.kafka import scheme
from multilang_cli.kafka.partition_manager import KafkaRecord, SchemeAwayError, SchemeError
from tests.kafka import registered
from tests.kafka.conftest import SPOUT
from tests.kafka.registry import Registry, a_registry
from tests.kafka.topics import Topic, logs_of, next_until, read_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.testing.driven import DrivenSpout

pytestmark = pytest.mark.kafka
ORDER = {"id": "o-1", "amount": 7}
KINDS = {"avro": "avro", "json": "json_schema", "protobuf": "protobuf"}
UNKNOWN = struct.pack(">bI", 0, 99)
"""How a message begins whose schema, 99, the registry does not know."""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with a_registry() as running:
        monkeypatch.setenv(registered.URL, running.url)
        registered.deserializer.cache_clear()
        yield running


@pytest.fixture
def orders(shell_spout: Callable[..., DrivenSpout], topic: Topic, registry: Registry) -> Callable[[str], DrivenSpout]:
    def start(kind: str) -> DrivenSpout:
        told = {"bootstrap.servers": topic.kafka.bootstrap_servers, "topic": topic.name, "id": topic.name}
        told["scheme"] = f"python:tests.kafka.registered:{KINDS[kind]}"
        conf = {f"kafka.spout.{name}": value for name, value in told.items()}
        env = {registered.URL: registry.url}
        return shell_spout(*SPOUT, conf=conf, env=env, streams={"default": ["id", "amount"]})

    return start


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_deserializer_reads_is_emitted_and_what_it_cannot_is_given_up(
    kind: str, orders: Callable[[str], DrivenSpout], topic: Topic, registry: Registry
) -> None:
    topic.fill(0, [b"plain", UNKNOWN, registered.written(kind, registry.url, topic.name, ORDER)])
    answers = read_all(orders(kind), 1)
    assert [emit.values for answer in answers for emit in answer.emits] == [["o-1", 7]]
    refused = [line for line in logs_of(answers) if line.startswith("given up: ") and line.endswith(": dropped")]
    assert [line.partition(": tests.")[0] for line in refused] == [
        "given up: partition 0: message 0",
        "given up: partition 0: message 1",
    ]


def test_while_the_registry_is_away_messages_wait(
    orders: Callable[[str], DrivenSpout], topic: Topic, registry: Registry
) -> None:
    topic.fill(0, [registered.written("avro", registry.url, topic.name, ORDER)] * 2)
    registry.status = 503
    running = orders("avro")
    answers = next_until(running, f"{topic.name}, partition 0: message 0 waits: tests.")
    registry.status = 0
    answers += read_all(running, 2)
    assert not [line for line in logs_of(answers) if line.startswith("given up")]
    assert [emit.id for answer in answers for emit in answer.emits] == ["0:0:0:0:0", "0:0:1:0:0"]


def _read_by(registry: Registry, value: bytes) -> list[list[Any]]:
    del registry
    return scheme.read("python:tests.kafka.registered:avro")(KafkaRecord(0, value, topic="t"))


@pytest.mark.parametrize("status", [401, 403, 408, 429, 500, 502, 503])
def test_a_registry_that_refuses_all_is_no_fault_of_the_message(registry: Registry, status: int) -> None:
    value = registered.written("avro", registry.url, "t", ORDER)
    registry.status = status
    with pytest.raises(SchemeAwayError, match="message 0 waits"):
        _read_by(registry, value)
    registry.status = 0
    assert _read_by(registry, value) == [["o-1", 7]]


def test_a_registry_that_does_not_answer_is_no_fault_of_the_message(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = registered.written("avro", registry.url, "t", ORDER)
    monkeypatch.setenv(registered.URL, "http://127.0.0.1:1")
    registered.deserializer.cache_clear()
    with pytest.raises(SchemeAwayError, match="message 0 waits"):
        _read_by(registry, value)


def test_a_schema_that_the_registry_does_not_know_is_one_of_the_message(registry: Registry) -> None:
    with pytest.raises(SchemeError, match="failed on the message: "):
        _read_by(registry, UNKNOWN + b"x")
