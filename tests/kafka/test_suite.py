"""mlcheck's own suite on the Kafka spout, which reads a real topic: not one finding on any Storm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.suite.runner.suite_run import run_suite
from tests.kafka.conftest import SPOUT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kafka.topics import Topic

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(900)]


@pytest.mark.parametrize("storm", ["0.9.2", ""])
def test_nothing_is_found(storm: str, topic: Topic, tmp_path: Path) -> None:
    topic.fill(0, [b"m%d" % number for number in range(3000)])
    told = {"bootstrap.servers": topic.kafka.bootstrap_servers, "topic": topic.name, "id": topic.name}
    component = Component(
        command=SPOUT,
        kind="spout",
        conf={f"kafka.spout.{name}": value for name, value in told.items()},
        streams={"default": StreamDeclaration(("message",))},
    )
    result = run_suite(component, RunOptions(record=str(tmp_path), strict=True, jobs=2, storm=storm))
    assert {s.id: (s.verdict, s.reason) for s in result.subjects if s.verdict not in {"pass", "skip"}} == {}
    assert {finding.rule for subject in result.subjects for finding in subject.findings} == set()
    assert sum(s.verdict == "pass" for s in result.subjects) > len(result.subjects) / 2
