"""`spark-submit` starts an audit, as the documents have it: with its own master, and with the exit code of mlcheck."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT
from tests.pages import TWICE, recorded

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1500)]
_SCRIPT = re.compile(r"`submit\.py`.*?```python\n(.*?)```", re.DOTALL)


SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "77", "spark.sql.session.timeZone": "Asia/Tokyo"}


def submitted(folder: Path, master: str) -> subprocess.CompletedProcess[str]:
    [script] = _SCRIPT.findall((ROOT / "docs" / "audit-cluster.md").read_text(encoding="utf-8"))
    (folder / "submit.py").write_text(script, encoding="utf-8")
    settings = SETTINGS | {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": folder.as_uri(),
    }
    told = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    start = (str(Path(sys.executable).parent / "spark-submit"), "--master", master, *told, "submit.py")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        [*start, "audit", "run", "in", "-o", "out"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_job_that_spark_submit_starts(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    recorded(tmp_path / "in" / "twice.ndjson", TWICE)
    wrong = submitted(tmp_path, "local[many]")
    assert wrong.returncode == 2
    assert "Could not parse Master URL: 'local[many]'" in wrong.stdout
    ran = submitted(tmp_path, "local[2]")
    assert ran.returncode == 0, ran.stdout
    assert "pass  Every line that was read went into a table" in ran.stdout
    assert "1 file; starting Spark: by spark-submit" in ran.stdout
    assert _settings(tmp_path) == SETTINGS | {"spark.sql.session.timeZone": "UTC"}
    assert sorted(path.name for path in (tmp_path / "out" / "_manifest").glob("*.json")) == ["000001.json"]


def _settings(folder: Path) -> dict[str, str]:
    """Those of `SETTINGS` that the job ran with, by Spark's log of its events."""
    lines = (line for path in folder.rglob("*") if path.is_file() for line in _events(path))
    [told] = [event for event in lines if event["Event"] == "SparkListenerEnvironmentUpdate"]
    return {name: told["Spark Properties"][name] for name in SETTINGS}


def _events(path: Path) -> list[dict[str, Any]]:
    begin = b'{"Event":"SparkListenerEnvironmentUpdate"'
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.startswith(begin)]
