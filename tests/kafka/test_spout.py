"""The Kafka spout on a real broker, driven as Storm drives it, and judged."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.kafka.lag import lag_of
from multilang_cli.kafka.start import GivenUp
from tests.kafka.topics import LIMIT, Topic, ids_of, logs_of, next_until, read_all, values_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.kafka.local.broker import LocalKafka
    from multilang_cli.testing.driven import DrivenSpout

pytestmark = pytest.mark.kafka
MEBIBYTE = 1024 * 1024
TWICE_TOLD = (sys.executable, str(Path(__file__).with_name("twice_told_spout.py")))


def texts(first: int, end: int) -> list[bytes]:
    return [b"m%d" % number for number in range(first, end)]


def test_every_message_comes_once_and_in_order(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, texts(0, 50))
    topic.fill(1, texts(50, 80))
    got = values_of(read_all(spout(), 80))
    assert sorted(got, key=lambda text: int(text[1:])) == [text.decode() for text in texts(0, 80)]
    assert [text for text in got if int(text[1:]) < 50] == [text.decode() for text in texts(0, 50)]


def test_what_is_acked_is_not_read_again_and_what_is_not_is(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, texts(0, 10))
    first = spout()
    ids = ids_of(read_all(first, 10))
    for number in (0, 1, 2, 3, 5):
        first.ack(ids[f"m{number}"])
    first.deactivate()
    first.end()
    assert topic.committed(0)[0] == 4
    second = spout()
    answers = read_all(second, 6)
    assert values_of(answers) == [f"m{number}" for number in range(4, 10)]
    assert any("from the stored offset 4, 6 behind" in line for line in logs_of(answers))


def test_a_next_emits_a_batch_but_no_more_than_storm_may_wait_for(
    spout: Callable[..., DrivenSpout], topic: Topic
) -> None:
    """What is acked or failed makes room: the fourth is emitted again, behind what its limit allows."""
    topic.fill(0, texts(0, 20))
    running = spout(batch=10, **{"topology.max.spout.pending": 4})
    ids = ids_of(read_all(running, 4))
    assert list(ids) == ["m0", "m1", "m2", "m3"]
    for name in ("m0", "m1"):
        running.ack(ids[name])
    running.fail(ids["m3"])
    assert values_of([running.next()]) == ["m3", "m4", "m5"]


@pytest.mark.mlcheck(allow=["exited"])
def test_a_spout_that_is_killed_loses_nothing(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, texts(0, 10))
    first = spout()
    answers = read_all(first, 10)
    for id_ in ids_of(answers).values():
        first.ack(id_)
    first.session.process.signal(signal.SIGKILL)
    first.end()
    assert values_of(read_all(spout(), 10)) == values_of(answers)


@pytest.mark.mlcheck(allow=["exited"])
@pytest.mark.parametrize("first_told", [signal.SIGTERM, None], ids=["sigterm", "end-of-stdin"])
def test_a_spout_that_is_told_to_end_once_more_while_it_stores_stores_all(
    spout: Callable[..., DrivenSpout], topic: Topic, first_told: signal.Signals | None
) -> None:
    topic.fill(0, texts(0, 10))
    first = spout(TWICE_TOLD)
    for id_ in ids_of(read_all(first, 10)).values():
        first.ack(id_)
    process = first.session.process
    if first_told is None:
        process.close_stdin()
    else:
        process.signal(first_told)
    assert process.wait_exit(first.limits["sync"]) is not None
    assert topic.committed(0)[0] == 10


def test_records_deleted_unread_are_counted_and_named(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, texts(0, 10))
    first = spout()
    ids = ids_of(read_all(first, 10))
    for number in range(3):
        first.ack(ids[f"m{number}"])
    first.deactivate()
    first.end()
    topic.cut(0, 7)
    answers = read_all(spout(), 3)
    assert values_of(answers) == ["m7", "m8", "m9"]
    told = "stored offset 3 is gone: 4 offsets (3-6) were deleted unread; from the earliest, 7"
    assert any(told in line for line in logs_of(answers))


def test_a_partition_that_is_added_is_read(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    running = spout(refresh=0.5)
    topic.fill(0, texts(0, 1))
    read_all(running, 1)
    topic.grow(3)
    topic.fill(2, texts(7, 8))
    assert values_of(read_all(running, 1)) == ["m7"]


def test_several_topics_are_read_and_each_has_its_progress(
    spout: Callable[..., DrivenSpout], topic: Topic, kafka: LocalKafka
) -> None:
    other = Topic(kafka, f"{topic.name}.other", partitions=1)
    topic.fill(0, texts(0, 3))
    other.fill(0, [*texts(3, 5), b"\xff"])
    running = spout(topic=f"{topic.name},{other.name}")
    answers = next_until(running, f"given up: topic {other.name}, partition 0: message 2")
    answers += read_all(running, 5 - len(values_of(answers)))
    assert sorted(values_of(answers)) == [f"m{number}" for number in range(5)]
    for id_ in ids_of(answers).values():
        running.ack(id_)
    running.deactivate()
    assert (topic.committed(0)[0], other.committed(0, topic.name)[0]) == (3, 3)


def test_a_failed_message_comes_again_under_a_new_id(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, texts(0, 2))
    running = spout()
    ids = ids_of(read_all(running, 2))
    running.fail(ids["m0"])
    again = ids_of(read_all(running, 1))
    assert again.keys() == {"m0"}
    assert again["m0"] != ids["m0"]


def test_null_and_empty_messages_are_passed_over_and_done(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, [None, b"", b"m"])
    running = spout()
    [id_] = ids_of(read_all(running, 1)).values()
    running.ack(id_)
    running.deactivate()
    assert topic.committed(0)[0] == 3


def test_what_was_written_in_a_transaction_that_was_aborted_is_not_read(
    spout: Callable[..., DrivenSpout], topic: Topic
) -> None:
    topic.fill_in_transactions(0, [([b"never"], False), ([b"a", None], True), ([b"never"], False), ([b"b"], True)])
    running = spout(tombstones="emit")
    answers = read_all(running, 3)
    assert values_of(answers) == ["a", None, "b"]
    for id_ in [emit.id for answer in answers for emit in answer.emits]:
        running.ack(id_)
    running.deactivate()
    assert topic.committed(0)[0] == topic.end(0) - 1


def test_a_mebibyte_comes_whole(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, [b"x" * MEBIBYTE])
    assert values_of(read_all(spout(), 1)) == ["x" * MEBIBYTE]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"bootstrap.servers": "127.0.0.1:1"}, "_TRANSPORT"),
        ({"topic": "no-such-topic"}, "UNKNOWN_TOPIC_OR_PART"),
    ],
    ids=["no broker", "no topic"],
)
def test_what_is_missing_is_said_and_storm_is_answered(
    settings: dict[str, object], words: str, spout: Callable[..., DrivenSpout]
) -> None:
    running = spout(**settings)
    said = logs_of(next_until(running, words)) + logs_of(running.next() for _ in range(20))
    assert len(said) == len(set(said))


def test_a_message_that_always_fails_goes_to_the_dead_letters(
    spout: Callable[..., DrivenSpout], topic: Topic, kafka: LocalKafka
) -> None:
    letters = Topic(kafka, f"{topic.name}.dead", partitions=1)
    topic.fill(0, [b"bad"], key=b"k", headers=[("trace", b"7"), ("mlcheck.offset", b"9")])
    running = spout(**{"retry.limit": 1, "given.up": f"topic:{letters.name}"})
    for _ in range(2):
        [id_] = ids_of(read_all(running, 1)).values()
        running.fail(id_)
    last = running.deactivate()
    told = f"given up: partition 0: message 0: failed 2 times: written to topic {letters.name} (message id {id_})"
    assert last.logs == [told]
    assert topic.committed(0)[0] == 1
    [dead] = letters.read(0, 1)
    assert (dead.value(), dead.key()) == (b"bad", b"k")
    headers: Any = dead.headers()
    assert headers[:2] == [("trace", b"7"), ("mlcheck.offset", b"9")]
    named = dict(headers)
    assert named["mlcheck.topic"] == topic.name.encode()
    assert (named["mlcheck.partition"], named["mlcheck.offset"]) == (b"0", b"0")
    assert int(named["mlcheck.timestamp"] or 0) > 0


def test_a_dead_letter_that_no_topic_takes_waits_and_is_told_once(
    spout: Callable[..., DrivenSpout], topic: Topic, kafka: LocalKafka
) -> None:
    letters = Topic(kafka, f"{topic.name}.dead", partitions=1)
    topic.fill(0, [b"{" * 1_010_000])
    running = spout(**{"scheme": "json", "given.up": f"topic:{letters.name}"})
    said = logs_of(next_until(running, "it waits"))
    said += logs_of(running.next() for _ in range(20)) + running.deactivate().logs
    [told] = [line for line in said if "given up: partition 0: message 0" in line]
    assert f"topic {letters.name} does not take it, and it waits: " in told
    assert told.endswith("(MSG_SIZE_TOO_LARGE)")


def test_a_dead_letter_that_is_too_large_holds_up_no_other(
    spout: Callable[..., DrivenSpout], topic: Topic, kafka: LocalKafka
) -> None:
    letters = Topic(kafka, f"{topic.name}.dead", partitions=1, config={"max.message.bytes": "2000"})
    topic.fill(0, [b"{", b"{" * 5000, b"["])
    running = spout(
        **{"scheme": "json", "given.up": f"topic:{letters.name}", "kafka.client.linger.ms": 300, "prefetch": 10}
    )
    said = logs_of(next_until(running, "it waits"))
    said += logs_of(running.next() for _ in range(20)) + running.deactivate().logs
    written = [line for line in said if line.endswith(f": written to topic {letters.name}")]
    assert [line.partition(": the ")[0] for line in written] == [
        "given up: partition 0: message 0",
        "given up: partition 0: message 2",
    ]


def test_a_dead_letter_that_is_not_written_at_the_end_is_told(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    """The client takes half a minute to find out that there is no such topic."""
    topic.fill(0, [b"{", b'{"word": "a"}', b"["])
    running = spout(**{"scheme": "json:word", "given.up": f"topic:{topic.name}.absent"})
    assert values_of(read_all(running, 1)) == ["a"]
    running.next()
    told = [line for line in running.deactivate().logs if line.startswith("given up: ")]
    assert [line.partition(": the ")[0] for line in told] == [
        "given up: partition 0: message 0",
        "given up: partition 0: message 2",
    ]
    assert all(line.endswith(f": is not written to topic {topic.name}.absent yet") for line in told)
    assert running.deactivate().logs == []


def test_a_message_that_the_scheme_cannot_read_is_said_and_passed_over(
    spout: Callable[..., DrivenSpout], topic: Topic
) -> None:
    topic.fill(0, [b"{", b'{"word": "a"}', b"[]", b'{"other": 1}'])
    running = spout(scheme="json:word")
    answers = read_all(running, 2)
    assert values_of(answers) == ["a", None]
    refused = [line for line in logs_of(answers) if line.endswith(": dropped")]
    assert [line.partition(": the ")[0] for line in refused] == [
        "given up: partition 0: message 0",
        "given up: partition 0: message 2",
    ]
    for id_ in ids_of(answers).values():
        running.ack(id_)
    running.deactivate()
    seen = lag_of(topic.kafka.bootstrap_servers, topic.name, topic.name, {}, LIMIT)[0]
    assert (seen.committed, seen.given_up) == (4, GivenUp(2, 2, "the message is no JSON object"))


@pytest.mark.mlcheck(allow=["exited"])
def test_at_most_once_stores_before_it_emits(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, texts(0, 5))
    first = spout(guarantee="at-most-once")
    answers = read_all(first, 5)
    assert set(ids_of(answers).values()) == {None}
    first.next()
    first.session.process.signal(signal.SIGKILL)
    first.end()
    topic.fill(0, texts(5, 6))
    assert values_of(read_all(spout(guarantee="at-most-once"), 1)) == ["m5"]


def test_progress_is_kept_in_a_file(spout: Callable[..., DrivenSpout], topic: Topic, tmp_path: Path) -> None:
    topic.fill(0, texts(0, 3))
    first = spout(progress=f"file:{tmp_path}")
    ids = ids_of(read_all(first, 3))
    first.ack(ids["m0"])
    first.deactivate()
    stored = json.loads((tmp_path / topic.name / f"{topic.name}-0.json").read_text(encoding="utf-8"))
    assert (stored["offset"], stored["partition"], stored["topic"]) == (1, 0, topic.name)
    first.end()
    assert values_of(read_all(spout(progress=f"file:{tmp_path}"), 2)) == ["m1", "m2"]


def test_a_topic_that_is_made_anew_is_read_from_its_beginning(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, texts(0, 3))
    running = spout(refresh=0.2)
    old = ids_of(read_all(running, 3))
    topic.delete()
    topic.create(2)
    topic.fill(0, texts(10, 15))
    answers = read_all(running, 5)
    assert values_of(answers) == [f"m{number}" for number in range(10, 15)]
    assert any("was deleted and made anew" in line for line in logs_of(answers))
    running.ack(old["m0"])
    running.deactivate()
    assert topic.committed(0)[0] <= 0


@pytest.mark.parametrize("kind", ["group", "file"])
def test_a_topic_that_is_made_anew_while_nobody_reads_it_is_read_from_its_beginning(
    spout: Callable[..., DrivenSpout], topic: Topic, tmp_path: Path, kind: str
) -> None:
    progress = kind if kind == "group" else f"file:{tmp_path}"
    topic.fill(0, texts(0, 3))
    first = spout(progress=progress)
    for id_ in ids_of(read_all(first, 3)).values():
        first.ack(id_)
    first.deactivate()
    first.end()
    topic.delete()
    topic.create(2)
    topic.fill(0, texts(10, 15))
    assert values_of(read_all(spout(progress=progress), 5)) == [f"m{number}" for number in range(10, 15)]


def test_lag_is_told(spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    topic.fill(0, texts(0, 4))
    running = spout(metrics=1e-9)
    answers = read_all(running, 3)
    ids = ids_of(answers)
    running.ack(ids["m0"])
    line = [line for line in running.next().logs if line.startswith("kafka {")][-1]
    numbers = json.loads(line.removeprefix("kafka "))["partition_0"]
    assert (numbers["latest"], numbers["completed_to"], numbers["lag"], numbers["acked"]) == (4, 1, 3, 1)


@pytest.mark.mlcheck(allow=["exited"])
def test_it_exits_if_kafka_stays_away_and_it_was_told_to(spout: Callable[..., DrivenSpout]) -> None:
    running = spout(**{"bootstrap.servers": "127.0.0.1:1", "unavailable": 0.1})
    said: list[str] = []
    while running.session.running and len(said) < 1_000:
        said += running.next().logs or [""]
    assert said[-1].endswith("exiting, as kafka.spout.unavailable says")
    assert running.session.exit is not None
    assert running.session.exit.code == 1
