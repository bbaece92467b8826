"""Spark on this machine asks who connects for a secret, and its Python takes no module of the working directory."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit.session import usual_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

REQUEST, FAILURE = 3, 5
"""Kinds of messages of Spark's own protocol: a call, and the answer that it failed."""


APART = """
import json, os, sys
from multilang_cli.audit.session import SHOWN_BY_EXECUTORS, session
spark = session("local-cluster[1,1,1024]", {"spark.driver.memory": "1g"}, size=1)
known = spark.sparkContext.parallelize([0], 1).map(lambda _: "_SPARK_AUTH_SECRET" in os.environ).collect()
print(json.dumps([spark.sparkContext.getConf().get(SHOWN_BY_EXECUTORS), known]), flush=True)
sys.stdin.read()
spark.stop()
"""
"""A session whose executor is a process of its own, until stdin ends."""
LISTENS, LOOPBACK = "0A", {"0100007F", "0000000000000000FFFF00000100007F"}
"""As /proc/net/tcp and tcp6 have them."""


def below(pid: int) -> Iterator[int]:
    """Processes that a process has started, and those that they have."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if path.read_text().rpartition(")")[2].split()[1] == str(pid):
                yield int(path.parent.name)
                yield from below(int(path.parent.name))


def listening(pids: list[int]) -> Iterator[tuple[str, int]]:
    """Addresses and ports on which some processes listen."""
    held = {str(link.readlink()) for pid in pids for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    for name in ("tcp", "tcp6"):
        for line in Path("/proc/net", name).read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == LISTENS and f"socket:[{inode}]" in held:
                address, _, port = local.partition(":")
                yield address, int(port, 16)


def calls(arguments: list[bytes]) -> set[int]:
    """Ports of driver and worker that take calls, as the executor is told them."""
    return {int(port) for words in arguments for port in re.findall(rb"spark://\w+@127\.0\.0\.1:(\d+)", words)}


def asked(port: int, body: bytes) -> bytes:
    """Spark's answer on that port to a call of somebody's who has shown no secret."""
    message = struct.pack(">bqi", REQUEST, 1, len(body)) + body
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(struct.pack(">q", 8 + len(message)) + message)
        answer = connection.makefile("rb")
        [size] = struct.unpack(">q", answer.read(8))
        return answer.read(size - 8)


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_who_knows_no_secret_can_not_call_spark(spark: SparkSession) -> None:
    told = asked(int(spark.conf.get("spark.driver.port") or ""), b"\xac\xed\0\5")
    # Without a secret it makes an object of what it is sent.
    assert (told[0], b"SaslMessage" in told, b"ObjectInputStream" in told) == (FAILURE, True, False)


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_executors_of_their_own_ask_for_a_secret_that_nobody_else_can_read(tmp_path: Path) -> None:
    command = [sys.executable, "-c", APART]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as running:
        assert running.stdout is not None
        secret, told_to_components = json.loads(running.stdout.readline())
        pids = [*below(running.pid)]
        arguments = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids]
        found = set(listening(pids))
        answers = [asked(port, b"\xac\xed\0\5") for _, port in found if port in calls(arguments)]
    assert (len(secret), told_to_components) == (64, [False])
    assert not any(secret.encode() in words for words in arguments)
    assert {address for address, _ in found} <= LOOPBACK
    assert len(answers) > 1
    assert all((each[0], b"SaslMessage" in each) == (FAILURE, True) for each in answers)


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_no_worker_takes_modules_of_the_working_directory(spark: SparkSession) -> None:
    assert spark.sparkContext.parallelize([0], 1).map(lambda _: sys.flags.safe_path).collect() == [True]


def kept_from_others(_: int) -> str:
    """The permissions that a process does not give, which it has from Java."""
    before = os.umask(0)
    os.umask(before)
    return oct(before)


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_rows_that_lie_among_temporary_files_are_their_owners_alone(spark: SparkSession) -> None:
    assert spark.sparkContext.parallelize([0], 1).map(kept_from_others).collect() == ["0o77"]
    spark.sparkContext.parallelize([(1, 2)], 2).groupByKey().collect()
    manager = spark.sparkContext._jvm.org.apache.spark.SparkEnv.get().blockManager().diskBlockManager()  # type: ignore[union-attr]
    folders = [Path(each.getPath()) for each in manager.localDirs()]
    assert [oct(each.stat().st_mode)[-3:] for each in folders] == ["700"] * len(folders)
    assert folders


@pytest.mark.parametrize(
    ("master", "asks"),
    [
        ("local", True),
        ("local[2]", True),
        ("local[*, 3]", True),
        # Spark says what is wrong, once it is not asked for a secret.
        ("local[many]", False),
        ("local-cluster[2,1,1024]", False),
        ("yarn", False),
    ],
)
def test_only_where_all_is_one_process_spark_makes_the_secret_by_itself(master: str, *, asks: bool) -> None:
    assert ("spark.authenticate" in usual_settings(master, 1)) is asks
