"""Parquet files that mlcheck writes itself: whole or not at all, in bounded pieces, with the meaning of each column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from multilang_cli.audit.columns import Table, TableColumn
from multilang_cli.audit.store import parquet_files
from multilang_cli.audit.store.manifest import StoredPiece

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
