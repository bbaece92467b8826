"""Spark for the tests of the audit: a session for each file of them, all in one Java."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit.session import LITTLE, session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """Spark on this machine, two tasks at a time, and a Java that compiles little: tests are over too soon for more.

    A file with `SIZE` has it set up as for so many bytes: with `LEAST` as users have it who audit as little.
    """
    small = {"spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2"}
    made = session("local[2]", small, size=getattr(request.module, "SIZE", LITTLE))
    yield made
    made.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """PySpark leaves sockets to the garbage collector, which says so at any time."""
    for item in items:
        if item.get_closest_marker("spark"):
            for warning in ("pytest.PytestUnraisableExceptionWarning", "ResourceWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{warning}"))
