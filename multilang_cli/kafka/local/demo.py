"""Parts of the demo: a topic full of words, and a topology from Kafka to a bolt that counts them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from multilang_cli.kafka.clients import QUIET, said
from multilang_cli.kafka.local.artifacts import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TOPIC = "words"
NAME = "kafka-demo"
WORDS = "the cow jumped over the moon and the dish ran away with the spoon".split()  # noqa: SIM905 (a sentence)
DEMO_LIMIT = 60.0
_WRAPPERS = "org.apache.storm.flux.wrappers"


def fill(servers: str, partitions: int, messages: int) -> None:
    """Make the topic, and write so many words to it. Raises UnavailableError."""
    words = [word.encode() for word in WORDS]
    fill_with(servers, TOPIC, partitions, [words[number % len(words)] for number in range(messages)])


def fill_with(servers: str, topic: str, partitions: int, messages: Sequence[bytes]) -> None:
    """Make a topic, and write these messages to it, in turn to each partition. Raises UnavailableError."""
    told: dict[str, Any] = {"bootstrap.servers": servers}
    try:
        admin = AdminClient(told, logger=QUIET)
        admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(DEMO_LIMIT)
        producer = Producer({**told, "linger.ms": 5, "queue.buffering.max.messages": 10_000_000}, logger=QUIET)
        for number, message in enumerate(messages):
            producer.produce(topic, message, partition=number % partitions)
        left = producer.flush(DEMO_LIMIT)
    except (KafkaException, BufferError) as error:
        raise UnavailableError(f"the topic can't be filled: {said(error)}") from None
    if left:
        raise UnavailableError(f"{left} of {len(messages)} messages were not written within {DEMO_LIMIT:.0f} s")


def write_topology(path: Path, servers: str, tasks: int) -> None:
    """Write the topology as a Flux file, which Storm can run as well. JSON is YAML, too."""
    spout = [
        sys.executable,
        "-m",
        "multilang_cli.kafka",
        f"bootstrap.servers={servers}",
        f"topic={TOPIC}",
        f"id={NAME}",
    ]
    bolt = [sys.executable, "-m", "multilang_cli.kafka.local.count_bolt"]
    flux = {
        "name": NAME,
        "config": {"topology.acker.executors": 1, "topology.max.spout.pending": 500},
        "spouts": [_shell("kafka", "Spout", spout, ["word"], tasks)],
        "bolts": [_shell("count", "Bolt", bolt, ["word", "count"], tasks)],
        "streams": [{"from": "kafka", "to": "count", "grouping": {"type": "FIELDS", "args": ["word"]}}],
    }
    path.write_text(json.dumps(flux, indent=2) + "\n", encoding="utf-8")


def _shell(name: str, kind: str, command: list[str], fields: list[str], tasks: int) -> dict[str, Any]:
    class_name = f"{_WRAPPERS}.{kind.lower()}s.FluxShell{kind}"
    return {"id": name, "className": class_name, "constructorArgs": [command, fields], "parallelism": tasks}
