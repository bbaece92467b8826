"""Parquet files that mlcheck writes itself: whole or not at all, in bounded pieces, with the meaning of each column."""

from __future__ import annotations

import gc
import json
import os
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from multilang_cli.audit.columns import Table, TableColumn
from multilang_cli.audit.stages.lines import write_rows
from multilang_cli.audit.stages.workers import OBJECTS_BETWEEN_LOOKS
from multilang_cli.audit.store import parquet_files
from multilang_cli.audit.store.manifest import FOLDER, Manifest, ManifestError, StoredPiece
from multilang_cli.audit.store.stored import stored_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

TABLE = Table(
    "made",
    "Rows.",
    (
        TableColumn("file", "string", "it's where it stands"),
        TableColumn("line", "bigint", "its line"),
        TableColumn("tasks", "array<int>", "the tasks"),
    ),
)
SCHEMA = parquet_files.commented_schema(TABLE)


def batches(file: str, count: int) -> Iterator[pa.RecordBatch]:
    for line in range(count):
        yield pa.RecordBatch.from_arrays([[file], [line], pa.array([[line]], pa.list_(pa.int32()))], schema=SCHEMA)


def test_batches_are_handed_on_and_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "ROW_GROUP_BYTES", 3 * next(batches("a", 1)).nbytes)
    path = tmp_path / "part.parquet"
    assert list(parquet_files.write_passing(batches("a", 8), path, SCHEMA, "1")) == list(batches("a", 8))
    file = pq.ParquetFile(path)
    assert [file.metadata.row_group(place).num_rows for place in range(file.num_row_groups)] == [3, 3, 2]
    assert file.read().column("line").to_pylist() == list(range(8))
    told = json.loads(file.schema_arrow.metadata[b"org.apache.spark.sql.parquet.row.metadata"])
    assert {each["name"]: each["metadata"]["comment"] for each in told["fields"]} == {
        column.name: column.meaning for column in TABLE.columns
    }


def test_a_file_that_is_not_written_to_its_end_is_not_there(tmp_path: Path) -> None:
    def fails() -> Iterator[pa.RecordBatch]:
        yield from batches("a", 2)
        raise ValueError("the disk is gone")

    with pytest.raises(ValueError, match="the disk is gone"):
        list(parquet_files.write_passing(fails(), tmp_path / "part.parquet", SCHEMA, "1"))
    assert not list(tmp_path.iterdir())
    list(parquet_files.write_passing(batches("a", 1), tmp_path / "part.parquet", SCHEMA, "2"))
    assert [path.name for path in tmp_path.iterdir()] == ["part.parquet"]


def test_rows_that_later_ones_replaced_are_not_read(tmp_path: Path) -> None:
    for file in ("a", "b"):
        parquet_files.write_batches(batches(file, 3), f"{tmp_path}/made/{file}", SCHEMA)
    pieces = StoredPiece("made/a", "file", ("a",)), StoredPiece("made/b")
    read = parquet_files.read_batches(str(tmp_path), pieces, TABLE.columns, ("line",), of={"line": (1, 2)})
    assert list(parquet_files.tuples_of(read)) == [(1,), (2,)]


def _put(table: pa.Table) -> Callable[[Path], None]:
    return lambda path: pq.write_table(table, path)


def _put_damaged(path: Path) -> None:
    pq.write_table(pa.Table.from_batches(batches("a", 9)), path)
    data = bytearray(path.read_bytes())
    data[4:64] = b"\xff" * 60
    path.write_bytes(data)


_NO_TEXT = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())


def _put_garbage(path: Path) -> None:
    path.write_bytes(b"garbage" * 9)


FORGED: dict[str, Callable[[Path], None]] = {
    "garbage": _put_garbage,
    "empty": lambda path: path.touch(),
    "pipe": os.mkfifo,
    "folder": lambda path: path.mkdir(),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "damaged pages": _put_damaged,
    "types": _put(pa.table({"file": [1], "line": ["x"], "tasks": [True]})),
    "lists": _put(pa.table({"file": [["a"]], "line": [[1]], "tasks": [[[1]]]})),
    "columns": _put(pa.table({"file": ["a"]})),
    "no utf-8": _put(pa.table({"file": _NO_TEXT, "line": [1], "tasks": pa.array([[1]], pa.list_(pa.int32()))})),
}


@pytest.mark.parametrize("kind", FORGED)
def test_what_no_audit_has_written_is_refused_by_its_name(kind: str, tmp_path: Path) -> None:
    """Who packed the folder may have put anything there, and a disk may have damaged it."""
    (tmp_path / "made").mkdir()
    FORGED[kind](tmp_path / "made" / "part-00000.parquet")
    with pytest.raises(ManifestError, match=r"made.* can't be read: .*; give --overwrite"):
        list(parquet_files.tuples_of(parquet_files.read_batches(str(tmp_path), [StoredPiece("made")], TABLE.columns)))


@pytest.mark.parametrize("kind", ["garbage", "pipe", "columns"])
def test_tables_that_spark_reads_are_looked_at_before(kind: str, tmp_path: Path) -> None:
    no_spark: Any = None
    (tmp_path / FOLDER).mkdir()
    manifest = Manifest(tables={"events": (StoredPiece("events/1"),)})
    (tmp_path / FOLDER / "000001.json").write_bytes(msgspec.json.encode(manifest))
    (tmp_path / "events" / "1").mkdir(parents=True)
    FORGED[kind](tmp_path / "events" / "1" / "part-00000.parquet")
    with pytest.raises(ManifestError, match=r"part-00000\.parquet can't be read"):
        stored_tables(no_spark, str(tmp_path))


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_rows_of_spark_are_written_by_its_tasks_as_the_table_has_them(spark: SparkSession, tmp_path: Path) -> None:
    # Spark knows of these columns that none is null, which no table says.
    made = spark.range(0, 9, 1, 2).selectExpr("id as line", "'f' as file", "array(cast(id as int)) as tasks")
    write_rows(made, str(tmp_path / "made"), TABLE)
    parts = sorted((tmp_path / "made").iterdir())
    assert [part.name for part in parts] == ["part-00000.parquet", "part-00001.parquet"]
    rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
    assert rows == [{"file": "f", "line": line, "tasks": [line]} for line in range(9)]
    assert spark.read.parquet(str(tmp_path / "made")).schema["line"].metadata == {"comment": "its line"}


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_task_looks_seldom_for_circles_of_objects(spark: SparkSession) -> None:
    def told(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"least": [gc.get_threshold()[0]], "kept": [gc.get_freeze_count()]})

    [row] = spark.range(0, 1, 1, 1).mapInArrow(told, "least long, kept long").collect()
    assert row.least == OBJECTS_BETWEEN_LOOKS
    assert row.kept > OBJECTS_BETWEEN_LOOKS / 10
