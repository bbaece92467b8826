"""From Kafka through a topology: several tasks of the spout, and deaths in the middle of many messages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from multilang_cli.kafka.local.broker import LocalKafka
from multilang_cli.topology.history import Died
from tests.kafka.journeys import Journey, to_a_bolt
from tests.kafka.topics import Topic
from tests.topologies.runs import run as run_to_end

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(900)]

COUNT = 2_000
UNCOMMITTED = 100
OUTAGE = 2.0


@pytest.fixture(scope="module")
def three() -> Iterator[LocalKafka]:
    """Three brokers."""
    with LocalKafka(3) as started:
        yield started


def filled(topic: Topic, count: int = COUNT, partitions: int = 2) -> set[str]:
    """Fill a topic's partitions; all the values."""
    for partition in range(partitions):
        topic.fill(partition, [b"m%d" % number for number in range(partition, count, partitions)])
    return {f"m{number}" for number in range(count)}


def test_tasks_share_the_partitions_and_each_is_read_by_one(kafka: LocalKafka, tmp_path: Path) -> None:
    topic = Topic(kafka, "shared", partitions=5)
    wanted = filled(topic, 300, partitions=5)
    journey = Journey(300)
    ran = journey.run(to_a_bolt(topic, tasks=3), tmp_path)
    assert (journey.values, journey.again) == (wanted, 0)
    by_partition: dict[int, set[int]] = {}
    for value, tasks in journey.spouts.items():
        by_partition.setdefault(int(value[1:]) % 5, set()).update(tasks)
    first, second, third = sorted({task for tasks in by_partition.values() for task in tasks})
    assert by_partition == {0: {first}, 1: {second}, 2: {third}, 3: {first}, 4: {second}}
    assert ran.result.verdict == "conformant"
    assert [topic.committed(partition)[0] for partition in range(5)] == [60] * 5


@pytest.mark.parametrize("victim", ["kafka", "count"])
def test_a_death_on_the_way_loses_nothing(victim: str, topic: Topic, tmp_path: Path) -> None:
    wanted = filled(topic)
    journey = Journey(COUNT, COUNT // 2, lambda journey: journey.kill(victim))
    ran = journey.run(to_a_bolt(topic, **{"max.uncommitted": UNCOMMITTED}), tmp_path)
    assert journey.values == wanted
    assert any("kill" in each.why.lower() for each in ran.of(Died))
    assert journey.again <= 2 * UNCOMMITTED
    assert ran.run.account.sentence.startswith(f"{COUNT:,} sent, {COUNT:,} completed, 0 lost, ")
    assert sum(topic.committed(partition)[0] for partition in range(2)) == COUNT


def test_the_death_of_a_leader_loses_nothing(three: LocalKafka, tmp_path: Path) -> None:
    topic = Topic(three, "led", partitions=2)
    wanted = filled(topic)
    leader = topic.leader(0)
    journey = Journey(COUNT, COUNT // 2, lambda _: three.brokers[leader - 1].kill())
    ran = journey.run(to_a_bolt(topic, **{"max.uncommitted": UNCOMMITTED}), tmp_path)
    three.brokers[leader - 1].start()
    three.wait()
    assert journey.values == wanted
    assert journey.again <= 2 * UNCOMMITTED
    assert ran.run.account.sentence.startswith(f"{COUNT:,} sent, {COUNT:,} completed, 0 lost, ")


@pytest.mark.parametrize("how", ["stopped", "paused"])
def test_an_outage_of_the_broker_is_sat_out(how: str, topic: Topic, kafka: LocalKafka, tmp_path: Path) -> None:
    [broker] = kafka.brokers
    wanted = filled(topic)

    def outage(journey: Journey) -> None:
        if how == "paused":
            broker.pause(paused=True)
            journey.later(OUTAGE, lambda: broker.pause(paused=False))
        else:
            broker.kill()
            broker.start()

    journey = Journey(COUNT, COUNT // 2, outage)
    ran = journey.run(to_a_bolt(topic, prefetch=10, **{"max.uncommitted": UNCOMMITTED}), tmp_path)
    kafka.wait()
    assert journey.values == wanted
    assert not ran.of(Died)


FAILS_BAD = """
from multilang_cli.component.bolt import Bolt


class Sink(Bolt):
    def process(self, tup):
        self.fail(tup) if tup.values[0] == "bad" else self.ack(tup)


Sink().run()
"""


@pytest.mark.parametrize("several", [False, True])
def test_what_is_in_the_dead_letters_is_not_lost(
    several: bool, topic: Topic, kafka: LocalKafka, tmp_path: Path
) -> None:
    """A message of three tuples, of which one always fails."""
    letters = Topic(kafka, f"{topic.name}.dead", partitions=1)
    topic.fill(0, [b"a b", b"c bad d", b"e"])
    (tmp_path / "sink.py").write_text(FAILS_BAD, encoding="utf-8")
    settings: dict[str, Any] = {
        "retry.limit": 1,
        "given.up": f"topic:{letters.name}",
        "scheme": "python:tests.kafka.schemes:words",
    }
    topology = to_a_bolt(topic, **settings)
    conf, bolt = topology.components["kafka"].conf, (sys.executable, str(tmp_path / "sink.py"))
    if several:
        conf = {**conf, "kafka.spout.topic": f"{topic.name},{Topic(kafka, f'{topic.name}.other', partitions=1).name}"}
    components = {
        "kafka": replace(topology.components["kafka"], conf=conf),
        "count": replace(topology.components["count"], command=bolt),
    }
    run = run_to_end(replace(topology, components=components), tmp_path / "run", idle=2.0).run
    account = run.account
    assert (account.lost, account.open, account.cut) == (0, 0, 0)
    assert account.dead_letters >= 1, account.sentence
    assert account.sent == account.completed + account.dead_letters
    assert "in the dead letters" in account.sentence
    assert [each.value() for each in letters.read(0, 1)] == [b"c bad d"]
    wrong = {each.id: each.verdict for each in run.result.subjects if each.verdict not in {"pass", "skip"}}
    assert wrong == {"given-up-kafka": "warn"}
