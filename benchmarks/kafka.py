"""Messages a second from Kafka to their ack, against a spout that emits constants, and against the client alone.

``KAFKA_MESSAGES=1000000 KAFKA_ROUNDS=1 python -m benchmarks kafka`` takes as many, which is long.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
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
from tests.storm.cluster import Cluster, link, shell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
IN_CLUSTER = f"{PEER} in a LocalCluster"
WRITTEN = 1_000
"""Acks of which the LocalCluster writes down one: to write and read them all would take more than the topology."""
TICKS = os.sysconf("SC_CLK_TCK")


class Speed(NamedTuple):
    """Messages a second; and for each second of CPU time of the spout's process, of the engine's, and of all.

    All is the whole topology, with its bolt: our processes, or the JVM and what it started. The broker is not in it.
    """

    rate: float
    cpu_rate: float = 0.0
    engine_rate: float = 0.0
    whole_rate: float = 0.0


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
    whole = {name: [speed.whole_rate for speed in speeds] for name, speeds in taken.items()}
    than = "a spout that emits constants"
    higher, batched = partial(Figure.of_rounds, better="higher"), f"the same, {BATCH} a next"
    figures = (
        higher("topology run, to ack", rates["kafka"], than, rates["constants"], unit="/s", goal=GOAL),
        higher(batched, rates["kafka, batch"], than, rates["constants"], unit="/s"),
        higher("topology run, to ack", rates["kafka"], IN_CLUSTER, rates["peer"], unit="/s", goal=1.0),
        higher(batched, rates["kafka, batch"], IN_CLUSTER, rates["peer"], unit="/s"),
        higher("topology run, to ack", rates["kafka"], f"{IN_CLUSTER}, bolt in Java", rates["peer, Java"], unit="/s"),
        higher("CPU time of the topology", whole["kafka"], IN_CLUSTER, whole["peer"], unit="/CPU s"),
        higher(
            "CPU time of the topology",
            whole["kafka"],
            f"{IN_CLUSTER}, bolt in Java",
            whole["peer, Java"],
            unit="/CPU s",
        ),
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
            f"{PEER}, bolt in Java for both",
            rates["peer, Java"],
            unit="/s",
        ),
        higher("CPU time of the spout", cpu["kafka"], than, cpu["constants"], unit="/CPU s"),
        higher(batched, cpu["kafka, batch"], than, cpu["constants"], unit="/CPU s"),
        higher("CPU time of the engine", engine["kafka"], than, engine["constants"], unit="/CPU s"),
        higher(batched, engine["kafka, batch"], than, engine["constants"], unit="/CPU s"),
        higher("topology run, to ack", rates["kafka"], "the client's consume()", rates["client"], unit="/s"),
    )
    notes = (
        f"{MESSAGES:,} messages of {len(MESSAGE)} bytes, one partition, {PENDING} pending",
        "the bolt is in C and acks; the KafkaSpout has the same one, by ShellBolt, unless it says 'in Java'",
        f"the cluster writes down one of {WRITTEN:,} acks, and nothing else; its JVM has Java's own options",
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
    """Notes when the first and the last message were acked, and the CPU time of spout, bolt and engine at both.

    It looks at what goes to the history, many events at a time: to be told of each would slow the engine down.
    """

    def __init__(self) -> None:
        self._pids: dict[str, int] = {}
        self._acked = 0
        self._times: list[tuple[float, ...]] = []

    def watch(self, engine: Engine) -> None:
        """Look at a run's history as it is written."""
        write = engine.keep

        def keep(events: Sequence[Happening]) -> object:
            self._look(events)
            return write(events)

        engine.keep = keep

    def _look(self, events: Sequence[Happening]) -> None:
        self._pids |= {each.component: each.pid for each in events if isinstance(each, Launched) and each.pid}
        acks = sum(each.__class__ is EmissionEnded for each in events)
        begins, ends = acks > 0 and not self._acked, self._acked < MESSAGES <= self._acked + acks
        self._acked += acks
        if begins or ends:
            taken = (_cpu(self._pids["spout"]), _cpu(self._pids["bolt"]), time.process_time())
            self._times.append((self._acked, time.perf_counter(), *taken))

    def speed(self) -> Speed:
        """Of what was noted. Raises UnmeasuredError if not all was acked."""
        if len(self._times) < 2:  # noqa: PLR2004 (the first and the last)
            raise UnmeasuredError(f"{self._acked} of {MESSAGES} messages were acked")
        count, took, spout, bolt, engine = (ended - began for began, ended in zip(*self._times, strict=True))
        rates = (count / max(each, 1 / TICKS) for each in (spout, engine, spout + bolt + engine))
        return Speed(count / took, *rates)


@contextmanager
def in_storm(servers: str) -> Iterator[dict[str, Callable[[], Speed]]]:
    """The spouts in a LocalCluster. Raises BuildError."""
    bolt, in_java = shell("bolt", "Bolt", [str(sides.compiled("topologies/ack_bolt"))], ["unused"]), kafka_peer.ACK_BOLT
    with TemporaryDirectory() as place:
        cluster = Cluster(Path(place) / "cluster", [f"-Dcluster.acks={WRITTEN}"], kafka_peer.class_path(), ())
        try:
            yield {
                "kafka, real": lambda: _in_storm(cluster, _shelled(spout(servers))),
                "constants, real": lambda: _in_storm(cluster, _shelled(constants())),
                "peer": lambda: _in_storm(cluster, kafka_peer.flux(servers, TOPIC, PENDING, bolt)),
                "peer, Java": lambda: _in_storm(cluster, kafka_peer.flux(servers, TOPIC, PENDING, in_java)),
            }
        finally:
            cluster.close()


def _shelled(component: ComponentSpec) -> dict[str, Any]:
    return {
        "config": {"topology.acker.executors": 1, "topology.max.spout.pending": PENDING},
        "spouts": [shell("spout", "Spout", list(component.command), ["message"])],
        "bolts": [kafka_peer.ACK_BOLT],
        "streams": [link("spout", "bolt")],
    }


def _in_storm(cluster: Cluster, flux: dict[str, Any]) -> Speed:
    """The speed between the first ack and the last of those that are written down."""
    noted: list[tuple[int, float, float]] = []

    def until(run: Run) -> bool:
        acks = run.of("ack")
        if len(acks) > len(noted):
            noted.append((acks[-1]["acked"], acks[-1]["nanos"] / 1e9, _cpu_with_children(cluster.pid)))
        return bool(noted) and noted[-1][0] >= MESSAGES

    cluster.run(flux, until, limit=600.0 + MESSAGES / SLOWEST)
    count, took, cpu = (ended - began for began, ended in zip(noted[0], noted[-1], strict=True))
    return Speed(count / took, whole_rate=count / cpu)


def _cpu(pid: int) -> float:
    """Seconds of CPU time of a process, threads and all (``proc(5)``: utime and stime)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _cpu_with_children(pid: int) -> float:
    """The same, with that of processes that it started. A thread may end meanwhile, and has started none then."""
    taken = _cpu(pid)
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):
            taken += sum(_cpu(int(each)) for each in (task / "children").read_text(encoding="ascii").split())
    return taken


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
