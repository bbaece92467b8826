"""The real ShellBolt and ShellSpout as a host pass the host cases: the rules of hosts ask for what Storm does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.command import ROOT
from tests.suite.test_host import CASES, judged

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.storm, pytest.mark.timeout(900)]


def test_real_storm_passes_as_a_host(tmp_path: Path) -> None:
    command = (sys.executable, str(ROOT / "oracle" / "host.py"), "2.8.3")
    # Its JVM needs a while, the first one also Maven.
    result = judged(command, tmp_path, storm="2.8.3", patience=15.0)
    assert [(each.id, each.verdict, each.reason) for each in result.subjects if each.verdict != "pass"] == []
    assert len(result.subjects) == len(CASES)
