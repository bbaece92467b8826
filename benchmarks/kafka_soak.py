"""``python -m benchmarks.kafka_soak``: the Kafka spout for long: deaths, an outage, memory, its suite on every Storm.

Nothing may be lost, what comes twice is bounded by what was not stored, memory stays flat. Minutes each; names choose.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.options import names_of, parser_of
from multilang_cli.catalogue.loader import load_versions
from multilang_cli.kafka.local.broker import LocalKafka
from multilang_cli.kafka.local.demo import fill_with
from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.suite.runner.suite_run import run_suite
from multilang_cli.testing.driven import DrivenSpout
from tests.kafka.journeys import Journey, to_a_bolt
from tests.kafka.topics import Topic

if TYPE_CHECKING:
    from collections.abc import Callable

SPOUT = (sys.executable, "-m", "multilang_cli.kafka")
UNCOMMITTED = 1_000
OUTAGE = 60.0
BATCH = 500


def main() -> int:
    """Run the soak; 1 if something was lost, repeated too often, or grew."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--messages", type=int, default=100_000, help="of deaths and the outage")
    parser.add_argument("--memory", type=int, default=5_000_000, help="messages of memory")
    names = names_of(parser, PARTS)
    chosen = parser.parse_args()
    failed = 0
    for name in names:
        began = time.monotonic()
        with LocalKafka(3 if name == "leader" else 1) as kafka, tempfile.TemporaryDirectory() as folder:
            found = PARTS[name](kafka, chosen.memory if name == "memory" else chosen.messages, Path(folder))
        failed += bool(found)
        print(f"{name}: {found or 'as it should be'} ({time.monotonic() - began:.0f} s)", flush=True)
    return 1 if failed else 0


def _journey(kafka: LocalKafka, count: int, folder: Path, mishap: Callable[[Journey, Topic], object]) -> str:
    """What went wrong where a mishap befell a topology in the middle of its messages."""
    topic = Topic(kafka, "soak", 2)
    for partition in range(2):
        topic.fill(partition, [b"m%d" % number for number in range(partition, count, 2)])
    journey = Journey(count, count // 2, lambda journey: mishap(journey, topic), guard=3600.0)
    ran = journey.run(to_a_bolt(topic, **{"max.uncommitted": UNCOMMITTED}), folder)
    lost = count - len(journey.values)
    print(f"  {count} messages, {journey.again} came again, {lost} lost", flush=True)
    print(f"  on the screen: {ran.run.account.sentence}", flush=True)
    return f"{lost} lost" if lost else "" if journey.again <= 2 * UNCOMMITTED else f"{journey.again} came again"


def _spout(kafka: LocalKafka, count: int, folder: Path) -> str:
    return _journey(kafka, count, folder, lambda journey, _: journey.kill("kafka"))


def _bolt(kafka: LocalKafka, count: int, folder: Path) -> str:
    return _journey(kafka, count, folder, lambda journey, _: journey.kill("count"))


def _leader(kafka: LocalKafka, count: int, folder: Path) -> str:
    return _journey(kafka, count, folder, lambda _, topic: kafka.brokers[topic.leader(0) - 1].kill())


def _outage(kafka: LocalKafka, count: int, folder: Path) -> str:
    def cut_off(journey: Journey, topic: Topic) -> None:
        del topic
        kafka.brokers[0].pause(paused=True)
        journey.later(OUTAGE, lambda: kafka.brokers[0].pause(paused=False))

    return _journey(kafka, count, folder, cut_off)


def _memory(kafka: LocalKafka, count: int, folder: Path) -> str:
    """The spout's memory at a tenth of the messages, and at their end."""
    del folder
    fill_with(kafka.bootstrap_servers, "memory", 1, [b"x" * 90] * count)
    told = {"bootstrap.servers": kafka.bootstrap_servers, "topic": "memory", "batch": BATCH}
    conf = {f"kafka.spout.{name}": value for name, value in told.items()}
    declared = {"default": StreamDeclaration(("message",))}
    with DrivenSpout(Component(command=SPOUT, kind="spout", conf=conf, streams=declared)) as running:
        seen, early = 0, 0
        while seen < count:
            for emitted in running.next().emits:
                seen += 1
                running.ack(emitted.id)
            early = early or (_resident(running.session.process.pid) if seen > count / 10 else 0)
        late = _resident(running.session.process.pid)
    print(f"  {early} MiB after {count // 10} messages, {late} MiB after {count}", flush=True)
    return "" if late <= 1.2 * early else f"grew from {early} to {late} MiB"


def _resident(pid: int) -> int:
    """Resident memory in MiB."""
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
    return int(said) // 1024


def _suite(kafka: LocalKafka, count: int, folder: Path) -> str:
    """The component suite on every version that was verified."""
    fill_with(kafka.bootstrap_servers, "suite", 1, [b"m"] * count)
    found = []
    for version in load_versions():
        told = {"bootstrap.servers": kafka.bootstrap_servers, "topic": "suite", "id": f"suite-{version.id}"}
        conf = {f"kafka.spout.{name}": value for name, value in told.items()}
        component = Component(
            command=SPOUT, kind="spout", conf=conf, streams={"default": StreamDeclaration(("message",))}
        )
        result = run_suite(component, RunOptions(record=str(folder), strict=True, jobs=2, storm=version.id))
        wrong = [s.id for s in result.subjects if s.verdict not in {"pass", "skip"} or s.findings]
        print(f"  {version.id}: {len(result.subjects)} cases, wrong: {wrong}", flush=True)
        found += [f"{version.id}: {each}" for each in wrong]
    return ", ".join(found)


PARTS: dict[str, Callable[[LocalKafka, int, Path], str]] = {
    "spout": _spout,
    "bolt": _bolt,
    "leader": _leader,
    "outage": _outage,
    "memory": _memory,
    "suite": _suite,
}

if __name__ == "__main__":
    sys.exit(main())
