"""The one LocalCluster of a test session, started when the first test asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.kafka.conftest import kafka
from tests.storm.build import BuildError
from tests.storm.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

__all__ = ["cluster", "kafka"]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Storm 2.8.3, as long as the session. Tests fail, and are not skipped, where it can't be started."""
    try:
        started = Cluster(tmp_path_factory.mktemp("storm") / "cluster")
    except BuildError as error:
        pytest.fail(str(error), pytrace=False)
    yield started
    started.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the end of Storm's log where a test failed."""
    report = yield
    running = getattr(item, "funcargs", {}).get("cluster")
    if report.failed and isinstance(running, Cluster):
        report.sections.append(("Storm's log", running.tail()))
    return report
