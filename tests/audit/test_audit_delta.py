"""Audits into Delta tables: the rows are those of Parquet, whatever a run that stopped has left in between."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyspark
import pytest

from multilang_cli.audit.console.auditing import AuditFlags, audit_given
from multilang_cli.audit.store import delta_tables
from multilang_cli.audit.store.manifest import FOLDER, SCHEMA, Manifest, ManifestError, format_before
from multilang_cli.terminal.exits import CommandError
from tests.command import ROOT

if TYPE_CHECKING:
    from pathlib import Path

NO_SPARK: Any = None
"""What is refused before Spark is asked."""

_COMMITS = """
import json, sys
from multilang_cli.audit.session import session
from multilang_cli.audit.store.delta_tables import delta_settings, read_delta, write_delta

place, odd = sys.argv[1], "it's\\\\"
spark = session("local[1]", delta_settings(), size=1)
rows = lambda *given: spark.createDataFrame([*given], "conv string, n int")
first = write_delta(rows(("a", 1), (odd, 2)), place, "run-1", None, ("", ()))
write_delta(rows(("a", 9), ("b", 9)), place, "run-that-stops", first, ("conv", ["a"]))
second = write_delta(rows((odd, 3), ("c", 4)), place, "run-2", first, ("conv", [odd]))
nothing = write_delta(rows(), place, "run-3", second, ("conv", []))
told = {str(at): sorted(map(list, read_delta(spark, place, at).collect())) for at in (first, second, nothing)}
print(json.dumps([first, second, nothing, told]))
"""


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_what_a_run_left_that_stopped_is_undone_by_the_next(tmp_path: Path) -> None:
    words = [sys.executable, "-c", _COMMITS, str(tmp_path / "a table`s")]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    first, second, nothing, told = json.loads(ran.stdout.splitlines()[-1])
    assert first < second <= nothing
    assert told[str(first)] == [["a", 1], ["it's\\", 2]]
    assert told[str(second)] == told[str(nothing)] == [["a", 1], ["c", 4], ["it's\\", 3]]


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_folder_that_grows_has_the_rows_of_one_that_was_whole(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.audit.delta_play", str(tmp_path)]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["stopped"]
    assert found["kept"]
    assert found["counted"] == found["parquet"]
    assert {name: found["alone"][name] for name in found["counted"]} == found["counted"]
    assert found["partitions"] == ["day", "topology"]


def test_a_pyspark_that_delta_has_no_package_for_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.1.0")
    with pytest.raises(delta_tables.DeltaMissingError, match=r"needs PySpark 4\.0 or 3\.5, and 4\.1\.0 is installed"):
        delta_tables.delta_settings()


def test_the_format_is_that_of_the_tables_that_are_there(tmp_path: Path) -> None:
    from multilang_cli.audit import inputs, pipeline  # noqa: PLC0415 (Spark)

    assert format_before(str(tmp_path)) is None
    (tmp_path / FOLDER).mkdir()
    manifest = Manifest(number=1, format="delta")
    (tmp_path / FOLDER / "000001.json").write_bytes(json.dumps({"schema": SCHEMA, "format": manifest.format}).encode())
    assert format_before(str(tmp_path)) == "delta"
    plan, said = inputs.AuditPlan(inputs.Inputs((), (), ())), list[str]()
    with pytest.raises(ManifestError, match="are delta; give --format delta, or --overwrite to make them anew"):
        pipeline.run(NO_SPARK, plan, str(tmp_path), said.append)


def test_another_format_is_refused(tmp_path: Path) -> None:
    flags = AuditFlags(inputs=(str(tmp_path),), output=str(tmp_path / "out"), table_format="orc")
    with pytest.raises(CommandError, match="--format 'orc': tables are parquet or delta"):
        audit_given(flags)
