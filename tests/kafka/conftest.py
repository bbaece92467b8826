"""The one broker of a test session, started when the first test asks for it, and topics of a test's own."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from multilang_cli.driver.supervisor import Supervisor
from multilang_cli.kafka.local.artifacts import UnavailableError, class_path
from multilang_cli.kafka.local.broker import LocalKafka
from tests.kafka.topics import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from multilang_cli.testing.driven import DrivenSpout

HERE = Path(__file__).parent
SPOUT = (sys.executable, "-m", "multilang_cli.kafka")


@pytest.fixture(scope="session")
def kafka() -> Iterator[LocalKafka]:
    """One broker. Tests fail, and are not skipped, where it can't be started."""
    try:
        started = LocalKafka().start()
    except UnavailableError as error:
        pytest.fail(str(error), pytrace=False)
    yield started
    started.close()


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[str]:
    """A real ZooKeeper; where it listens."""
    supervisor = Supervisor("zookeeper-")
    folder = supervisor.folder
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    java = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dzookeeper.admin.enableServer=false"]
    java += ["-cp", class_path(HERE / "zookeeper.xml")]
    settings = folder / "zoo.cfg"
    settings.write_text(f"dataDir={folder}\nclientPort={port}\nclientPortAddress=127.0.0.1\n", encoding="utf-8")
    main = "org.apache.zookeeper.server.ZooKeeperServerMain"
    process = supervisor.start([*java, main, str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield f"127.0.0.1:{port}"
    supervisor.end(process)


@pytest.fixture
def topic(kafka: LocalKafka, request: pytest.FixtureRequest) -> Topic:
    """A new topic of 2 partitions, named after the test."""
    return Topic(kafka, request.node.name.translate(str.maketrans("[]/ ", "..--")), partitions=2)


@pytest.fixture
def spout(shell_spout: Callable[..., DrivenSpout], topic: Topic) -> Callable[..., DrivenSpout]:
    """Starts the Kafka spout on the test's topic: ``spout(batch=10)``. Settings with dots: ``**{"retry.limit": 2}``.

    ``spout(command)`` starts another in its place.
    """

    def start(command: Sequence[str] = SPOUT, /, **settings: object) -> DrivenSpout:
        told = {"bootstrap.servers": topic.kafka.bootstrap_servers, "topic": topic.name, "id": topic.name, **settings}
        conf = {
            name if name.startswith(("kafka.", "topology.")) else f"kafka.spout.{name}": value
            for name, value in told.items()
        }
        return shell_spout(*command, conf=conf, streams={"default": ["message"]})

    return start
