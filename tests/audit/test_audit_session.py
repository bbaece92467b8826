"""Spark on this machine asks who connects for a secret, and its Python takes no module of the working directory."""

from __future__ import annotations

import os
import socket
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit.session import usual_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REQUEST, FAILURE = 3, 5
"""Kinds of messages of Spark's own protocol: a call, and the answer that it failed."""


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
