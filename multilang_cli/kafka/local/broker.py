"""Kafka brokers that can be started, stopped, killed and started again: each a process, and a controller as well."""

from __future__ import annotations

import base64
import contextlib
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Self

import msgspec

from multilang_cli.driver.supervisor import Supervisor
from multilang_cli.kafka.local.artifacts import UnavailableError, class_path

if TYPE_CHECKING:
    from collections.abc import Sequence

JAVA = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xmx512m", "-Dfile.encoding=UTF-8")
START_SECONDS = 90.0
STOP_SECONDS = 30.0
PORT_LOOKS_EVERY = 0.05
CLUSTER = base64.urlsafe_b64encode(b"mlcheck's kafka!").decode().rstrip("=")
"""A cluster id is 16 bytes; these clusters never meet."""

PROPERTIES = """\
process.roles=broker,controller
node.id={node}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
controller.quorum.voters={voters}
log.dirs={folder}/log
offsets.topic.num.partitions=4
offsets.topic.replication.factor={replicas}
transaction.state.log.replication.factor={replicas}
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor={replicas}
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
delete.topic.enable=true
log.retention.ms=-1
message.max.bytes=2000000
log.segment.delete.delay.ms=1000
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
controlled.shutdown.enable=true
{more}
"""


class Ports(msgspec.Struct, frozen=True):
    """Ports of a node on 127.0.0.1: for clients, and for the other controllers."""

    port: int
    controller: int


class Broker:
    """One node. `number` from 1 on."""

    def __init__(self, number: int, ports: Ports, command: Sequence[str], supervisor: Supervisor) -> None:
        self.number = number
        self.ports = ports
        self.log = supervisor.folder / "broker.log"
        self._command = list(command)
        self._folder = supervisor.folder
        self._supervisor = supervisor
        self._process: subprocess.Popen[str] | None = None

    @property
    def running(self) -> bool:
        """True while its process lives."""
        return self._process is not None and self._process.poll() is None

    def format(self) -> None:
        """Make its storage, as Kafka wants it before the first start. Raises UnavailableError."""
        arguments = ("format", "-t", CLUSTER, "-c", str(self._folder / "server.properties"))
        if self._run("kafka.tools.StorageTool", *arguments).wait(START_SECONDS):
            raise UnavailableError(f"Kafka could not format its storage:\n{self.tail()}")

    def start(self) -> None:
        """Start its process; `LocalKafka.start` waits until it answers."""
        if not self.running:
            self._run("kafka.Kafka", str(self._folder / "server.properties"))

    def _run(self, *arguments: str) -> subprocess.Popen[str]:
        with self.log.open("ab") as log:
            self._process = self._supervisor.start([*self._command, *arguments], stdout=log, stderr=subprocess.STDOUT)
        return self._process

    def listening(self) -> bool:
        """True once it takes connections. Raises UnavailableError if it ended instead."""
        if not self.running:
            raise UnavailableError(f"Kafka broker {self.number} ended while it started:\n{self.tail()}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.ports.port), 1):
            return True
        return False

    def stop(self) -> None:
        """End it in order: it hands its partitions to other brokers first."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._signal(signal.SIGKILL)

    def pause(self, *, paused: bool) -> None:
        """Let it stand still, as a machine that is cut off does; or go on."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        if self.running:
            self._process.kill()
            self._process.wait()

    def tail(self, lines: int = 15) -> str:
        """The end of what it said."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def close(self) -> None:
        """End it, and remove its folder."""
        if self._process is not None:
            self._supervisor.end(self._process)


class LocalKafka:
    """A cluster of `size` brokers, without topics. `properties`: more lines of server.properties."""

    def __init__(self, size: int = 1, properties: str = "") -> None:
        java = ["java", *JAVA, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", class_path()]
        ports = _ports(size)
        voters = ",".join(f"{number}@127.0.0.1:{each.controller}" for number, each in enumerate(ports, 1))
        self.brokers: list[Broker] = []
        for number, each in enumerate(ports, 1):
            supervisor = Supervisor("kafka-")
            text = PROPERTIES.format(
                node=number,
                port=each.port,
                controller=each.controller,
                voters=voters,
                folder=supervisor.folder,
                replicas=min(size, 3),
                more=properties,
            )
            (supervisor.folder / "server.properties").write_text(text, encoding="utf-8")
            self.brokers.append(Broker(number, each, java, supervisor))

    @property
    def bootstrap_servers(self) -> str:
        """Address for clients, as ``bootstrap.servers`` has it."""
        return ",".join(f"127.0.0.1:{broker.ports.port}" for broker in self.brokers)

    def start(self) -> Self:
        """Format and start every broker, and wait until each takes connections. Raises UnavailableError."""
        for broker in self.brokers:
            broker.format()
        for broker in self.brokers:
            broker.start()
        self.wait()
        return self

    def wait(self) -> None:
        """Wait until every broker that runs takes connections. Raises UnavailableError."""
        until = time.monotonic() + START_SECONDS
        for broker in [each for each in self.brokers if each.running]:
            while not broker.listening():
                if time.monotonic() > until:
                    raise UnavailableError(f"Kafka did not start within {START_SECONDS:.0f} s:\n{broker.tail()}")
                time.sleep(PORT_LOOKS_EVERY)

    def close(self) -> None:
        """End all brokers, and remove what they stored."""
        for broker in self.brokers:
            broker.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()


def _ports(size: int) -> list[Ports]:
    """Ports that are free now."""
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(2 * size):
            taken = stack.enter_context(socket.socket())
            taken.bind(("127.0.0.1", 0))
            found.append(taken.getsockname()[1])
    return [Ports(*pair) for pair in zip(found[::2], found[1::2], strict=True)]
