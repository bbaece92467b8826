"""The tap that records into a topic: every line is there, in order; a Kafka that is gone costs the recording only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.protocol.words.events import Gap
from multilang_cli.tap import feed as tap_feed
from multilang_cli.tap import topic as tap_topic
from multilang_cli.tap.plan import TapPlan
from multilang_cli.tap.recorder import Recorder
from multilang_cli.transcript.read import read
from tests.command import BOLT, ROOT
from tests.kafka.topics import LIMIT, Topic
from tests.processes import until
from tests.tapping import STARTED, conversation, recorded

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.kafka.local.broker import LocalKafka

pytestmark = pytest.mark.kafka

TUPLE = '> {"id":"1","comp":"words","stream":"default","task":2,"tuple":["snow white"]}\n'
ACK = '< {"command":"ack","id":"1"}\n'
NOWHERE = "127.0.0.1:1/nowhere"


@pytest.fixture
def alone(kafka: LocalKafka, request: pytest.FixtureRequest) -> Topic:
    return Topic(kafka, request.node.name, partitions=1)


def tapped(folder: Path, where: str) -> tuple[bytes, bytes]:
    """What a tapped bolt is told, and says."""
    said = b"".join(record.data for record in conversation(TUPLE) if record.kind == tap_feed.IN)
    said = said.replace(b'"\\/pids"', json.dumps(str(folder)).encode())
    argv = [sys.executable, "-m", "multilang_cli", "tap", "--record", where, "--", sys.executable, BOLT]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, input=said, cwd=folder, env=env, capture_output=True, check=False, timeout=LIMIT)
    assert (done.returncode, done.stderr) == (0, b"")
    return said, done.stdout


def fetched(topic: Topic, folder: Path) -> tuple[Path, set[bytes | None]]:
    """The messages of a topic as the lines of a file, and their keys."""
    consumer = Consumer({"bootstrap.servers": topic.kafka.bootstrap_servers, "group.id": "tests"})
    _, number = consumer.get_watermark_offsets(TopicPartition(topic.name, 0), LIMIT)
    consumer.close()
    messages = topic.read(0, number)
    path = folder / "fetched.ndjson"
    path.write_bytes(b"".join(bytes(message.value() or b"") + b"\n" for message in messages))
    keys: Any = {message.key() for message in messages}
    return path, keys


def test_every_line_is_a_message_under_the_conversation(alone: Topic, tmp_path: Path) -> None:
    told, said = tapped(tmp_path, f"kafka://{alone.kafka.bootstrap_servers}/{alone.name}")
    states = (tmp_path / ".mlcheck" / "tap").glob
    assert until(lambda: any('"ended"' in path.read_text(encoding="utf-8") for path in states("*.status.json")))
    path, keys = fetched(alone, tmp_path)
    transcript = read(path)
    assert keys == {transcript.header.conv.encode()}
    events = list(transcript)
    assert transcript.ends
    assert [b"".join(e.raw for e in events if e.channel == channel) for channel in ("in", "out")] == [told, said]
    [subject] = judge_transcripts([path], load_rulebook()).subjects
    # The stream of the example declares two fields, and the bolt emits one.
    assert {found.rule for found in subject.findings if found.level == "must"} == {"arity"}


def test_without_kafka_the_bytes_are_the_same(tmp_path: Path) -> None:
    _, said = tapped(tmp_path, f"kafka://{NOWHERE}")
    assert [json.loads(line).get("command", "pid") for line in said.split(b"\nend\n") if line] == [
        "pid",
        "emit",
        "emit",
        "ack",
    ]


def test_a_full_queue_is_a_gap_and_what_comes_later_is_there(
    alone: Topic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tap_topic._SETTINGS, "queue.buffering.max.messages", 20)
    many = conversation((TUPLE + ACK) * 50)
    later = conversation(TUPLE + ACK)[-2:]
    where = f"{alone.kafka.bootstrap_servers}/{alone.name}"
    recorder = Recorder(TapPlan(("component", "x"), tmp_path, kafka=where), 4711, STARTED)
    recorder.take(many)
    times = count(60, 60)

    def told() -> bool:
        t = next(times)
        recorder.take([record._replace(t=record.t + t) for record in later])
        return bool(recorder.status()["gaps"] == 1)

    assert until(told)
    recorder.end()
    path, _ = fetched(alone, tmp_path)
    [why] = [event.body.why for event in read(path) if isinstance(event.body, Gap)]
    assert why.endswith("events could not be written")
    assert int(why.split()[0]) >= len(many) - 20
    assert "the queue is full" in next(tmp_path.glob("*.log")).read_text(encoding="utf-8")


def test_what_never_arrived_is_told_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tap_topic, "FLUSHED_WITHIN", 0.1)
    recorder = recorded(tmp_path, [conversation(TUPLE + ACK)], kafka=NOWHERE)
    assert "Kafka did not take the last" in recorder.status()["failed"]
