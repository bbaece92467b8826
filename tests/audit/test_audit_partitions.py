"""Partitions of long tables: each row stands in those of its topology and its day, whoever writes it."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

pytest.importorskip("pyspark")

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from multilang_cli.audit.columns import PlacedBy, Table, TableColumn
from multilang_cli.audit.store import parquet_files
from multilang_cli.audit.store.manifest import Manifest, ManifestError, StoredPiece, newest, publish
from multilang_cli.audit.store.partitions import BY, Placing, parted, placing, with_partitions
from multilang_cli.audit.store.stored import read_partitioned, read_pieces
from multilang_cli.audit.store.views import _view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

NO_SPARK: Any = None
DAY = 86_400.0
MIDNIGHT = 20_000 * DAY
"""2024-10-04."""
TABLE = Table(
    "made",
    "",
    (TableColumn("conv", "string", ""), TableColumn("t", "double", "it's a time"), TableColumn("n", "int", "")),
    PlacedBy("conv", "t"),
)
SCHEMA = parquet_files.commented_schema(TABLE)
LONG = "x" * 300
ODD = "a/b=c %25 é\n'\"{*}"


class Row(NamedTuple):
    """A row of the table, and the partition in which it belongs."""

    conv: str | None
    t: float | None
    topology: str | None
    day: date | None


KNOWN: dict[str, Placing] = {
    "plain": placing("words", MIDNIGHT - 2),
    "odd": placing(ODD, MIDNIGHT),
    "nameless": placing("", MIDNIGHT),
    "timeless": placing("words", None),
    "taps": placing("words", MIDNIGHT, absolute=True),
    "long": placing(LONG, 0.0),
    "mad": placing("words", 1e300),
    "half": placing("half \udc80", 0.0),
}
ROWS = [
    Row("plain", 0.0, "words", date(2024, 10, 3)),
    Row("plain", 1.5, "words", date(2024, 10, 3)),
    Row("plain", 2.0, "words", date(2024, 10, 4)),
    Row("plain", None, "words", date(2024, 10, 3)),
    Row("plain", 1e200, "words", None),
    Row("plain", -1e12, "words", None),
    Row("odd", 3 * DAY, ODD, date(2024, 10, 7)),
    Row("nameless", 1.0, None, date(2024, 10, 4)),
    Row("timeless", 1.0, "words", None),
    Row("timeless", None, "words", None),
    Row("taps", 5.0, "words", date(1970, 1, 1)),
    Row("taps", None, "words", date(2024, 10, 4)),
    Row("long", 1.0, KNOWN["long"].topology, date(1970, 1, 1)),
    Row("mad", 1.0, "words", None),
    Row("half", 1.0, "half ?", date(1970, 1, 1)),
    Row("unknown", 1.0, None, None),
    Row(None, 1.0, None, None),
]
EXPECTED = sorted(((each.conv, n, each.topology, each.day) for n, each in enumerate(ROWS)), key=lambda row: row[1])


def batches(size: int) -> Iterator[pa.RecordBatch]:
    """The rows, so many at a time."""
    for start in range(0, len(ROWS), size):
        some = ROWS[start : start + size]
        numbers = pa.array(range(start, start + len(some)), pa.int32())
        columns = [pa.array([row.conv for row in some], pa.string()), pa.array([row.t for row in some], pa.float64())]
        yield pa.RecordBatch.from_arrays([*columns, numbers], schema=SCHEMA)


def written(folder: Path, size: int) -> None:
    """Write them into partitions."""
    known = SimpleNamespace(value=KNOWN)

    def part(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """As tasks do it."""
        return parted(batch, TABLE.placed_by or PlacedBy("", ""), known)

    handed = list(parquet_files.write_passing(batches(size), folder / "part.parquet", SCHEMA, "1", part))
    assert handed == list(batches(size))


@pytest.mark.parametrize("size", [1, 3, len(ROWS)])
def test_rows_stand_in_the_partition_of_their_topology_and_day(size: int, tmp_path: Path) -> None:
    folder = tmp_path / "made" / "1"
    written(folder, size)
    files = sorted(folder.rglob("*.parquet"))
    assert len(files) == len({row[2:] for row in EXPECTED})
    assert not list(folder.rglob(".*"))
    assert {file.stat().st_mode & 0o777 for file in folder.rglob("day=*")} == {0o700}
    assert ds.dataset(folder, schema=SCHEMA, format="parquet").count_rows() == len(ROWS)
    connection = duckdb.connect()
    connection.execute(_view(TABLE, str(tmp_path), [StoredPiece("made/1")]))
    found = connection.execute("select conv, n, topology, day from made order by n").fetchall()
    assert found == EXPECTED
    columns = parquet_files.read_batches(str(tmp_path), [StoredPiece("made/1")], TABLE.columns, ("n",))
    assert sorted(n for (n,) in parquet_files.tuples_of(columns)) == list(range(len(ROWS)))


def test_long_names_of_topologies_stay_apart() -> None:
    one, other = placing(LONG, 0.0).topology, placing(LONG + "y", 0.0).topology
    assert one != other
    assert max(len(one), len(other)) < 120


def test_a_table_that_fails_leaves_no_file(tmp_path: Path) -> None:
    def failing(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """One piece, then a fault."""
        yield "topology=a/day=b", batch
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(parquet_files.write_passing(batches(2), tmp_path / "part.parquet", SCHEMA, "1", failing))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_partition_that_is_missing_is_named_and_a_folder_below_one_refused(tmp_path: Path) -> None:
    written(tmp_path / "made" / "1", 3)
    manifest = Manifest(number=1, tables={"made": (StoredPiece("made/1"),)})
    publish(NO_SPARK, str(tmp_path), manifest)
    known = newest(NO_SPARK, str(tmp_path))
    assert known
    (piece,) = known.tables["made"]
    assert piece.files
    assert len(piece.files) == len({row[2:] for row in EXPECTED})
    below = tmp_path / "made" / "1" / Path(piece.files[0]).parent / "topology=a"
    below.mkdir()
    with pytest.raises(ManifestError, match="topology=a can't be read: it is no file"):
        parquet_files.check_files(str(tmp_path), [piece], TABLE.columns)
    (tmp_path / "made" / "1" / piece.files[0]).unlink()
    with pytest.raises(ManifestError, match=r"day=.*is missing"):
        newest(NO_SPARK, str(tmp_path))


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_spark_writes_and_reads_the_same_partitions(spark: SparkSession, tmp_path: Path) -> None:
    rows: Any = pa.Table.from_batches(batches(len(ROWS)))
    made = spark.createDataFrame(rows.to_pylist(), TABLE.ddl)
    assert TABLE.placed_by
    with_partitions(made, TABLE.placed_by, KNOWN).write.partitionBy(*BY).parquet(str(tmp_path / "made" / "spark"))
    written(tmp_path / "made" / "arrow", 4)
    for name in ("spark", "arrow"):
        pieces = [StoredPiece(f"made/{name}")]
        found = read_partitioned(spark, str(tmp_path), pieces, TABLE)
        assert sorted(map(tuple, found.select("conv", "n", *BY).collect()), key=lambda row: row[1]) == EXPECTED, name
        bare = read_pieces(spark, str(tmp_path), pieces, TABLE.ddl)
        assert bare.columns == [column.name for column in TABLE.columns]
        assert bare.count() == len(ROWS)
    made_by = tmp_path / "made"
    parts = (
        {path.parent.relative_to(made_by / name) for path in (made_by / name).rglob("*.parquet")}
        for name in ("spark", "arrow")
    )
    assert len(set(map(frozenset, parts))) == 1
