"""Messages a second from Kafka to their ack, against a spout that emits constants, and against the client alone.

``KAFKA_MESSAGES=1000000 KAFKA_ROUNDS=1 python -m benchmarks kafka`` takes as many, which is long.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import Consumer, TopicPartition

from benchmarks import kafka_peer, sides
from benchmarks.measure import Figure, Result, UnmeasuredError, interleaved
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.kafka.clients import QUIET
from multilang_cli.kafka.local.artifacts import UnavailableError
from multilang_cli.kafka.local.broker import LocalKafka
from multilang_cli.kafka.local.demo import fill_with
from multilang_cli.kafka.reader import FAST
from multilang_cli.topology.engine.setup import Goal, set_up
from multilang_cli.topology.history import EmissionEnded, Happening, Launched
from multilang_cli.topology.model import ComponentSpec, Grouping, OutputStream, Subscription, Topology
from multilang_cli.topology.running import prepare, run_topology
from tests.storm.build import STORM, BuildError
from tests.storm.cluster import Cluster, link, shell, sink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.topology.engine.engine import Engine
    from tests.storm.cluster import Run

TOPIC = "bench"
MESSAGE = b"x" * 90
MESSAGES = int(os.environ.get("KAFKA_MESSAGES", "5000"))
ROUNDS = int(os.environ.get("KAFKA_ROUNDS", "3"))
THERE = max(200_000, MESSAGES)
GOAL = 0.7
"""Of what the same loop reaches with a spout that emits constants."""
PENDING = 500
SLOWEST = 100
"""Messages a second that any side is given."""
BATCH = 10
PEER = "storm-kafka-client's KafkaSpout"
TICKS = os.sysconf("SC_CLK_TCK")


class Speed(NamedTuple):
    """Messages a second; and for each second of CPU time of the spout's process, and of the engine's, which is ours."""

    rate: float
    cpu_rate: float
    engine_rate: float = 0.0


def run() -> Result:
    """Measure the Kafka spout on a broker of its own."""
    try:
        with LocalKafka() as kafka:
            servers = kafka.bootstrap_servers
            fill_with(servers, TOPIC, 1, [MESSAGE] * THERE)
            taken = interleaved(
                ROUNDS,
                {
                    "kafka": partial(through, partial(spout, servers)),
                    "constants": partial(through, constants),
                    "kafka, batch": partial(through, partial(spout, servers, batch=BATCH)),
                    "client": partial(client, servers),
                },
            )
            with in_storm(servers) as real:
                taken |= interleaved(ROUNDS, real)
    except (UnavailableError, BuildError) as error:
        raise UnmeasuredError(str(error)) from None
    rates = {name: [speed.rate for speed in speeds] for name, speeds in taken.items()}
    cpu = {name: [speed.cpu_rate for speed in speeds] for name, speeds in taken.items()}
    engine = {name: [speed.engine_rate for speed in speeds] for name, speeds in taken.items()}
    than = "a spout that emits constants"
    higher, batched = partial(Figure.of_rounds, better="higher"), f"the same, {BATCH} a next"
    figures = (
        higher("topology run, to ack", rates["kafka"], than, rates["constants"], unit="/s", goal=GOAL),
        higher(batched, rates["kafka, batch"], than, rates["constants"], unit="/s"),
        higher("topology run, to ack", rates["kafka"], f"{PEER} in a LocalCluster", rates["peer"], unit="/s", goal=1.0),
        higher(batched, rates["kafka, batch"], f"{PEER} in a LocalCluster", rates["peer"], unit="/s"),
        higher(
            f"Storm {STORM}'s ShellSpout, to ack",
            rates["kafka, real"],
            than,
            rates["constants, real"],
            unit="/s",
            goal=GOAL,
        ),
        higher(
            f"Storm {STORM}'s ShellSpout, to ack",
            rates["kafka, real"],
            PEER,
            rates["peer"],
            unit="/s",
        ),
        higher("CPU time of the spout", cpu["kafka"], than, cpu["constants"], unit="/CPU s"),
        higher(batched, cpu["kafka, batch"], than, cpu["constants"], unit="/CPU s"),
        higher("CPU time of the engine", engine["kafka"], than, engine["constants"], unit="/CPU s"),
        higher(batched, engine["kafka, batch"], than, engine["constants"], unit="/CPU s"),
        higher("topology run, to ack", rates["kafka"], "the client's consume()", rates["client"], unit="/s"),
    )
    notes = (
        f"{MESSAGES:,} messages of {len(MESSAGE)} bytes, one partition, {PENDING} pending; a bolt in C that acks",
        f"medians of {ROUNDS} interleaved rounds; the client reads {THERE:,} messages",
        "the CPU time of the spout has its client's threads in it, from the first ack to the last",
    )
    return Result("kafka", "all on any CPU, the broker too", figures, notes)


def spout(servers: str, **settings: Any) -> ComponentSpec:
    """The Kafka spout, with a consumer group that is new."""
    told = {"bootstrap.servers": servers, "topic": TOPIC, "id": f"bench-{time.time_ns()}", **settings}
    words = [f"{name}={value}" for name, value in told.items()]
    return _component("spout", "spout", sys.executable, "-m", "multilang_cli.kafka", *words)


def constants() -> ComponentSpec:
    """A spout made with the same library, that emits the same text for ever."""
    return _component("spout", "spout", sys.executable, str(Path(__file__).parent / "constant_spout.py"))


def _component(name: str, kind: Any, *command: str) -> ComponentSpec:
    return ComponentSpec(id=name, kind=kind, command=command, streams={"default": OutputStream(("message",))})


def through(made: Callable[[], ComponentSpec]) -> Speed:
    """The speed of a run of a topology, from its first ack to the last that counts."""
    parts = (made(), _component("bolt", "bolt", sides.compiled("topologies/ack_bolt")))
    topology = Topology(
        name="bench",
        components={each.id: each for each in parts},
        subscriptions=(Subscription(source="spout", target="bolt", grouping=Grouping("SHUFFLE")),),
        conf={"topology.acker.executors": 1, "topology.max.spout.pending": PENDING},
    )
    rulebook = load_rulebook()
    with TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder)
        goal = Goal(messages=MESSAGES, idle=60.0)
        more = {"cwd": folder, "env": dict(os.environ), "goal": goal, "transcripts": False}
        clock = _Clock()
        run_topology(set_up(topology, rulebook.newest, rulebook, folder, **more), clock.watch)
    return clock.speed()


class _Clock:
    """Notes when the first and the last message were acked, and the CPU time of spout and engine at both."""

    def __init__(self) -> None:
        self._pid = 0
        self._acked = 0
        self._times: list[tuple[float, float, float]] = []

    def watch(self, engine: Engine) -> Callable[[Happening], object]:
        """Listen to a run."""
        del engine
        return self._take

    def _take(self, event: Happening) -> None:
        if isinstance(event, Launched) and event.component == "spout":
            self._pid = event.pid or 0
        elif isinstance(event, EmissionEnded):
            self._acked += 1
            if self._acked in {1, MESSAGES}:
                self._times.append((time.perf_counter(), _cpu(self._pid), time.process_time()))

    def speed(self) -> Speed:
        """Of what was noted. Raises UnmeasuredError if not all was acked."""
        if len(self._times) < 2:  # noqa: PLR2004 (the first and the last)
            raise UnmeasuredError(f"{self._acked} of {MESSAGES} messages were acked")
        took, spout_took, engine_took = (ended - began for began, ended in zip(*self._times, strict=True))
        return Speed(MESSAGES / took, MESSAGES / max(spout_took, 1 / TICKS), MESSAGES / engine_took)


@contextmanager
def in_storm(servers: str) -> Iterator[dict[str, Callable[[], Speed]]]:
    """The spouts in a LocalCluster, with a bolt of Storm's; the rate alone is measured. Raises BuildError."""
    with TemporaryDirectory() as place:
        cluster = Cluster(Path(place) / "cluster", jars=kafka_peer.class_path())
        try:
            yield {
                "kafka, real": lambda: _in_storm(cluster, _shelled(spout(servers))),
                "constants, real": lambda: _in_storm(cluster, _shelled(constants())),
                "peer": lambda: _in_storm(cluster, kafka_peer.flux(servers, TOPIC, PENDING)),
            }
        finally:
            cluster.close()


def _shelled(component: ComponentSpec) -> dict[str, Any]:
    return {
        "config": {"topology.acker.executors": 1, "topology.max.spout.pending": PENDING},
        "spouts": [shell("spout", "Spout", list(component.command), ["message"])],
        "bolts": [sink("bolt")],
        "streams": [link("spout", "bolt")],
    }


def _in_storm(cluster: Cluster, flux: dict[str, Any]) -> Speed:
    acked: list[float] = []

    def until(run: Run) -> bool:
        if len(run.of("ack")) > len(acked):
            acked.append(time.perf_counter())
        return len(acked) >= MESSAGES

    cluster.run(flux, until, limit=600.0 + MESSAGES / SLOWEST)
    return Speed(MESSAGES / (acked[-1] - acked[0]), 0.0)


def _cpu(pid: int) -> float:
    """Seconds of CPU time of a process, threads and all (``proc(5)``: utime and stime)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def client(servers: str) -> Speed:
    """The client alone, with the spout's settings: the limit."""
    told = {**FAST, "bootstrap.servers": servers, "group.id": "bench-client", "enable.auto.commit": False}
    consumer = Consumer(told, logger=QUIET)
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    count = len(consumer.consume(1, sides.LIMIT))
    began, cpu = time.perf_counter(), time.process_time()
    while count < THERE:
        count += len(consumer.consume(1_000, 0)) or len(consumer.consume(1, 1))
    speed = Speed(THERE / (time.perf_counter() - began), THERE / (time.process_time() - cpu))
    consumer.close()
    return speed
