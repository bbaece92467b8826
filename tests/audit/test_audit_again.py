"""Runs on a folder that has tables: the same files again, more of them, a crash, a second writer, older tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import duckdb
import msgspec
import pytest
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit import inputs
from multilang_cli.audit.store.manifest import FOLDER, SCHEMA, Manifest, ManifestError, StoredPiece, only_writer
from multilang_cli.audit.tables import TABLES
from multilang_cli.transcript.given import GivenSecrets
from tests.audit.generator.taps import transcripts
from tests.audit.generator.trees import EVERYTHING, TreesPlan
from tests.pages import TWICE, recorded

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1500)]
PLAN = TreesPlan(roots=80, weights=EVERYTHING)


def rows(tables: dict[str, DataFrame]) -> dict[str, list[str]]:
    """All rows of all tables, whatever their order."""
    return {name: sorted(map(str, table.collect())) for name, table in tables.items()}


def audited(spark: SparkSession, folder: Path, out: Path, said: list[str] | None = None) -> dict[str, list[str]]:
    from multilang_cli.audit import pipeline  # noqa: PLC0415 (Spark)

    plan = inputs.AuditPlan(inputs.find([str(folder)]))
    return rows(pipeline.run(spark, plan, str(out), (said if said is not None else []).append))


def manifests(out: Path) -> list[str]:
    return sorted(path.name for path in (out / FOLDER).glob("*.json"))


def lay(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    for name, text in files:
        (folder / name).write_bytes(text)


def by_spark_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are written as in a store behind a URL, where Spark alone can write."""
    from multilang_cli.audit import stored_state  # noqa: PLC0415 (Spark)
    from multilang_cli.audit.store import stored  # noqa: PLC0415

    monkeypatch.setattr(stored_state, "is_url", lambda _: True)
    monkeypatch.setattr(stored, "is_url", lambda _: True)


def test_a_folder_that_grows_is_audited_as_if_it_had_been_whole(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from multilang_cli.audit import pipeline  # noqa: PLC0415 (Spark)
    from multilang_cli.audit.stages import lines  # noqa: PLC0415
    from multilang_cli.audit.store.stored import stored_tables  # noqa: PLC0415

    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    files = sorted(transcripts(PLAN).items())
    (grows, whole), *first = files
    # One file is cut amid a line, two are not there yet, and one of a folder's will be found to be the shorter copy.
    lay(folder, [*first[:-2], (grows, whole[: len(whole) // 2])])
    copy = recorded(folder / "twice.ndjson", TWICE)
    before = audited(spark, folder, out)

    said: list[str] = []
    assert audited(spark, folder, out, said) == before
    assert said == ["nothing is new: the tables of the run before are those of these files"]
    assert manifests(out) == ["000001.json"]

    lay(folder, [*first[-2:], (grows, whole)])
    (folder / "a-longer.ndjson").write_bytes(copy.read_bytes() + b"junk\n")
    with monkeypatch.context() as patch:
        # It stops amid its tables.
        patch.delitem(pipeline._TABLES, "roots")
        with pytest.raises(KeyError, match="roots"):
            audited(spark, folder, out)
    assert rows(stored_tables(spark, str(out))) == before
    assert manifests(out) == ["000001.json"]

    with monkeypatch.context() as patch:
        # The first run's lines are read by the driver, for there are few; these are read by tasks.
        patch.setattr(lines, "READ_BY_DRIVER", -1)
        after = audited(spark, folder, out)
    with monkeypatch.context() as patch:
        by_spark_alone(patch)
        fresh = audited(spark, folder, tmp_path / "fresh")
    for name, found in fresh.items():
        assert after[name] == found, name
    assert after["files"] != before["files"]
    assert any("twice.ndjson" in row and "copy of part" in row for row in after["quarantine"])
    assert manifests(out) == ["000001.json", "000002.json"]
    _views_have_what_counts(spark, out, after)
    _is_only_what_is_new(out, files, read={name for name, _ in first[-2:]} | {grows, "a-longer.ndjson", "twice.ndjson"})
    _others_are_refused(spark, folder, out)


def _views_have_what_counts(spark: SparkSession, out: Path, expected: dict[str, list[str]]) -> None:
    """Views of Spark, and the statements for duckdb: tables in partitions have two columns more."""
    from multilang_cli.audit.store.views import view_sql, views  # noqa: PLC0415 (Spark)

    assert set(views(spark, str(out))) == expected.keys()
    names = [column.name for column in TABLES["events"].columns]
    assert sorted(map(str, spark.table("events").select(names).collect())) == expected["events"]
    connection = duckdb.connect()
    connection.execute(view_sql(str(out)))
    for name in expected:
        plain = [each.name for each in TABLES[name].all_columns if each.type in {"string", "int", "bigint", "date"}]
        found = connection.table(name).select(*plain).fetchall()
        assert Counter(found) == Counter(map(tuple, spark.table(name).select(plain).collect())), name
    told = "nullif(c.topology, ''), date(timestamp_seconds(c.started + e.t)), e.topology, e.day"
    of = "events e join conversations c on e.conv = c.conv and c.part = 1"
    for row in spark.sql(f"select distinct {told} from {of}").collect():  # noqa: S608 (texts of ours)
        assert row[:2] == row[2:]
        day = row.day
    assert not spark.sql("select * from roots where day <> date(timestamp_seconds(emitted))").collect()
    asked = spark.table("roots").where(F.col("day") == day)
    assert "PartitionFilters: [isnotnull(day" in asked._jdf.queryExecution().toString()


def _is_only_what_is_new(out: Path, files: list[tuple[str, bytes]], read: set[str]) -> None:
    """The second run wrote events of those files that it had to read, and no leftovers stand beside them."""
    import pyarrow.parquet as pq  # noqa: PLC0415 (an extra)

    manifest = json.loads((out / FOLDER / "000002.json").read_bytes())
    old, new = (out / piece["folder"] for piece in manifest["tables"]["events"])
    written = {file.rpartition("/")[2] for file in pq.read_table(new, columns=["file"])["file"].to_pylist()}
    assert written <= read
    assert {name for name, _ in files} - written
    assert sorted((out / "events").iterdir()) == sorted([old, new])


def _others_are_refused(spark: SparkSession, folder: Path, out: Path) -> None:
    from multilang_cli.audit.store.manifest import _publish_far, newest, publish  # noqa: PLC0415 (Spark)

    with only_writer(str(out)), pytest.raises(ManifestError, match="another run is writing"):
        audited(spark, folder, out)
    with pytest.raises(ManifestError, match="another run has written"):
        publish(spark, str(out), Manifest(number=2))
    pieces: dict[str, Any] = {"events": (StoredPiece("events/x", "file", ("a",)),)}
    far = Manifest(number=1, tables=pieces)
    place = f"{out}/far/{FOLDER}"
    for written in (True, False):
        assert _publish_far(spark, f"{place}/.part", f"{place}/000001.json", msgspec.json.encode(far)) is written
    assert [path.name for path in (out / "far" / FOLDER).glob("[!.]*")] == ["000001.json"]
    assert newest(spark, str(out / "far")) == far
    (out / FOLDER / "000003.json").write_text('{"schema": 0}')
    with pytest.raises(ManifestError, match=f"have schema 0, and this mlcheck writes schema {SCHEMA}"):
        audited(spark, folder, out)


def test_what_is_hidden_stands_in_no_table_and_other_patterns_are_other_tables(
    spark: SparkSession, tmp_path: Path
) -> None:
    from multilang_cli.audit import pipeline  # noqa: PLC0415 (Spark)

    file = recorded(tmp_path / "twice.ndjson", TWICE)
    file.write_bytes(file.read_bytes() + b"no line, but snow\n")
    out = tmp_path / "out"

    def told(*patterns: str) -> tuple[str, str]:
        """What is said of a run that hides these, and all that its tables hold."""
        said: list[str] = []
        secrets = GivenSecrets(tuple(re.compile(pattern) for pattern in patterns), (), {})
        plan = inputs.AuditPlan(inputs.find([str(file)]), secrets=secrets)
        tables = pipeline.run(spark, plan, str(out), said.append)
        return said[0], str(rows(tables))

    assert "snow" in told()[1]
    begins, held = told("snow")
    assert begins.startswith("[1/")
    assert ("snow" in held, "***" in held) == (False, True)
    assert told("snow")[0].startswith("nothing is new")
    assert told("other")[0].startswith("[1/")
    assert "snow" not in "".join(path.read_text() for path in (out / FOLDER).glob("*.json"))
