"""A broker that wants TLS and a password: what the spout is told of them goes to the client, and to no log."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from multilang_cli.kafka.local.broker import LocalKafka
from tests.kafka.conftest import SPOUT
from tests.kafka.topics import Topic, logs_of, read_all, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from multilang_cli.testing.driven import DrivenSpout

pytestmark = pytest.mark.kafka

SECRET = "correct horse battery staple"  # noqa: S105 (of a broker that lives for this test)
PROPERTIES = """\
listener.security.protocol.map=PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username="me" password="{secret}" user_me="{secret}";
ssl.keystore.location={folder}/keys
ssl.keystore.password={secret}
ssl.truststore.type=PEM
ssl.truststore.location={folder}/ca.pem
"""
"""The listener keeps its name and takes another protocol."""
KEYTOOL = ("keytool", "-keystore", "keys", "-storepass", SECRET, "-alias", "broker")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("secure")
    pair = ("-genkeypair", "-keyalg", "EC", "-dname", "CN=localhost", "-ext", "san=ip:127.0.0.1")
    subprocess.run([*KEYTOOL, *pair], cwd=made, check=True, capture_output=True)
    subprocess.run([*KEYTOOL, "-exportcert", "-rfc", "-file", "ca.pem"], cwd=made, check=True, capture_output=True)
    return made


@pytest.fixture(scope="module")
def secure(folder: Path) -> Iterator[LocalKafka]:
    with LocalKafka(properties=PROPERTIES.format(secret=SECRET, folder=folder)) as kafka:
        yield kafka


def client(folder: Path, password: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(folder / "ca.pem"),
        "sasl.mechanism": "PLAIN",
        "sasl.username": "me",
        "sasl.password": password,
    }


@pytest.fixture(scope="module")
def filled(secure: LocalKafka, folder: Path) -> Topic:
    topic = Topic(secure, "secure", 1, client=client(folder, SECRET))
    topic.fill(0, [b"a", b"b"])
    return topic


@pytest.fixture
def start(shell_spout: Callable[..., DrivenSpout], filled: Topic, folder: Path) -> Callable[[str], DrivenSpout]:
    def with_password(password: str) -> DrivenSpout:
        told = {f"kafka.client.{name}": value for name, value in client(folder, password).items()}
        servers = filled.kafka.bootstrap_servers
        needed = {
            "kafka.spout.bootstrap.servers": servers,
            "kafka.spout.topic": filled.name,
            "kafka.spout.id": "secure",
        }
        return shell_spout(*SPOUT, conf={**told, **needed}, streams={"default": ["message"]})

    return with_password


def test_who_knows_the_password_reads(start: Callable[[str], DrivenSpout]) -> None:
    answers = read_all(start(SECRET), 2)
    assert values_of(answers) == ["a", "b"]
    assert SECRET not in " ".join(logs_of(answers))


def test_a_wrong_password_is_said_and_not_told(start: Callable[[str], DrivenSpout]) -> None:
    running = start("wrong " + SECRET)
    said: list[str] = []
    while not said:
        said = logs_of([running.next()])
    assert "uthentication" in said[0]
    assert SECRET not in " ".join(said) + running.stderr
