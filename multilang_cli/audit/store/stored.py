"""Tables of an audit's folder, as its newest manifest has them: what every reader should go through."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, reduce
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.inputs import here, is_url
from multilang_cli.audit.stages.facts import SPANS, AuditFacts, HeardPart, counted_spans, told_facts
from multilang_cli.audit.store.delta_tables import read_delta
from multilang_cli.audit.store.local_rows import local_rows
from multilang_cli.audit.store.manifest import ManifestError, newest
from multilang_cli.audit.store.parquet_files import check_files, read_batches, tuples_of
from multilang_cli.audit.tables import LEDGER, ROOTS, TABLES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from multilang_cli.audit.columns import Table
    from multilang_cli.audit.store.manifest import Manifest, StoredPiece


class TreeCount(NamedTuple):
    """Trees that are alike. `held`: the task that has the open tuple, else the spout's."""

    verdict: str
    confidence: str
    run: str
    held: int | None
    trees: int


class LedgerCount(NamedTuple):
    """Tuples of a conversation, by verdict."""

    conv: str
    never: int
    unseen: int
    unknown: int


class LineCount(NamedTuple):
    """Lines of all files. `told`: those that went into a table, or end a part."""

    lines: int
    told: int
    events: int
    quarantined: int


class StoredTables(dict[str, "DataFrame"]):
    """Tables by name, and what is often asked of them, once. `pieces`: the folders that have their rows.

    Of tables that are few rows the driver reads the files itself, where they are on this machine.
    """

    def __init__(self, spark: SparkSession, folder: str, pieces: Mapping[str, tuple[StoredPiece, ...]]) -> None:
        super().__init__()
        self.pieces = dict(pieces)
        self._spark = spark
        self._folder = folder

    def add(self, table: Table, pieces: tuple[StoredPiece, ...]) -> None:
        """Take the rows of these folders for a table."""
        self.pieces[table.name] = pieces
        self[table.name] = read_pieces(self._spark, self._folder, pieces, table.commented_ddl)

    def partitioned(self, name: str) -> DataFrame:
        """A table with the columns of its partitions."""
        return read_partitioned(self._spark, self._folder, self.pieces[name], TABLES[name])

    def only(self, name: str, column: str, values: Collection[str]) -> DataFrame:
        """Rows of a table that have one of these values, read from the folders alone that may have some."""
        wanted = frozenset(values)
        pieces = self.pieces[name]
        found = [piece for piece in pieces if not wanted.isdisjoint(self._values(name, piece, column) or wanted)]
        ddl = TABLES[name].commented_ddl
        rows = read_pieces(self._spark, self._folder, found, ddl) if len(found) < len(pieces) else self[name]
        chosen = F.broadcast(local_rows(self._spark, [(value,) for value in sorted(wanted)], f"{column} string"))
        return rows.join(chosen, column, "left_semi").select(rows.columns)

    def _values(self, name: str, piece: StoredPiece, column: str) -> Collection[str] | None:
        """The values of a column that a folder may have; None if nobody knows."""
        if piece.has and piece.column == column:
            return piece.has
        if (name, column) == ("events", "conv"):
            return self._conversations.get(piece.folder.rpartition("/")[2])
        return None

    @cached_property
    def _conversations(self) -> dict[str, frozenset[str]]:
        """Conversations that have events in the folder of each run: spans and events are written side by side."""
        if SPANS.name not in self.pieces or not self._by_driver(SPANS):
            return {}
        found = {}
        for piece in self.pieces[SPANS.name]:
            rows = tuples_of(read_batches(self._folder, [piece], SPANS.columns, ("conv",)))
            found[piece.folder.rpartition("/")[2]] = frozenset(conv for (conv,) in rows)
        return found

    def rows(
        self, table: Table, *names: str, of: Mapping[str, Collection[Any]] | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Rows of a table, one by one. `of`: by column, which of its values are wanted."""
        if not self._by_driver(table):
            # There may be more than the driver can hold.
            return self._wanted(table, names, of or {}).toLocalIterator(prefetchPartitions=True)
        return tuples_of(read_batches(self._folder, self.pieces[table.name], table.columns, names, of))

    def few(
        self, table: Table, *names: str, of: Mapping[str, Collection[Any]] | None = None
    ) -> Sequence[tuple[Any, ...]]:
        """The same of a table that has few, all of them."""
        if not self._by_driver(table):
            return self._wanted(table, names, of or {}).collect()
        return list(self.rows(table, *names, of=of))

    def _wanted(self, table: Table, names: Sequence[str], of: Mapping[str, Collection[Any]]) -> DataFrame:
        wanted = (F.col(name).isin(list(values)) for name, values in of.items())
        return reduce(DataFrame.where, wanted, self[table.name]).select(*names)

    def counted(self, table: Table, *names: str) -> Counter[tuple[Any, ...]]:
        """Number of rows that have the same values in these columns, by these."""
        found: Counter[tuple[Any, ...]] = Counter()
        if not self._by_driver(table):
            for *values, number in self[table.name].groupBy(*names).count().collect():
                found[tuple(values)] = number
            return found
        for batch in read_batches(self._folder, self.pieces[table.name], table.columns, names):
            alike = pa.Table.from_batches([batch]).group_by(list(names)).aggregate([([], "count_all")])
            for *values, number in tuples_of(alike.select([*names, "count_all"]).to_batches()):
                found[tuple(values)] += number
        return found

    def _by_driver(self, table: Table) -> bool:
        return not is_url(self._folder) and all(piece.version is None for piece in self.pieces[table.name])

    @cached_property
    def facts(self) -> AuditFacts:
        """Facts of conversations and files."""
        names = [column.name for column in SPANS.columns]
        known = SPANS.name in self.pieces
        spans = self.few(SPANS, *names) if known else counted_spans(self["events"]).collect()
        return told_facts(self.few(TABLES["conversations"], *HeardPart._fields), spans)

    @cached_property
    def lines(self) -> LineCount:
        """The table files, summed."""
        names = ("lines", "headers", "events", "ends", "quarantined")
        rows = self.few(TABLES["files"], *names)
        lines, headers, events, ends, bad = (sum(row[place] for row in rows) for place in range(len(names)))
        return LineCount(lines, headers + events + ends + bad, events, bad)

    @cached_property
    def trees(self) -> list[TreeCount]:
        """The table roots, counted."""
        found: Counter[tuple[Any, ...]] = Counter()
        alike = self.counted(ROOTS, "verdict", "confidence", "run", "open_task", "task")
        for (*what, holds, emitted), number in alike.items():
            found[(*what, emitted if holds is None else holds)] += number
        return list(starmap(TreeCount, ((*what, number) for what, number in found.items())))

    @cached_property
    def settled(self) -> list[LedgerCount]:
        """The table ledger, counted."""
        found = self.counted(LEDGER, "conv", "verdict")
        verdicts = LedgerCount._fields[1:]
        return [LedgerCount(conv, *(found[conv, name] for name in verdicts)) for conv in {conv for conv, _ in found}]


def check_stored(folder: str, manifest: Manifest) -> None:
    """Look whether all files of the tables can be read, if they are on this machine. Raises ManifestError."""
    for name, pieces in manifest.tables.items():
        if name in TABLES and not is_url(folder):
            check_files(folder, pieces, TABLES[name].columns)


def stored_tables(spark: SparkSession, folder: str) -> StoredTables:
    """Every table by its name. Raises ManifestError if there are none."""
    folder = here(folder)
    manifest = newest(spark, folder)
    if manifest is None:
        raise ManifestError(f"there are no tables of an audit in {folder}")
    check_stored(folder, manifest)
    found = StoredTables(spark, folder, manifest.tables)
    for name, pieces in manifest.tables.items():
        if name in TABLES:
            found.add(TABLES[name], pieces)
    return found


def read_pieces(spark: SparkSession, folder: str, pieces: Iterable[StoredPiece], ddl: str) -> DataFrame:
    """The rows of a table's pieces, less what later ones replaced: those that are whole in one scan."""
    nothing = spark.createDataFrame([], ddl)
    whole: list[str] = []
    found: list[DataFrame] = []
    for piece in pieces:
        place = f"{folder.rstrip('/')}/{piece.folder}"
        if piece.version is not None:
            found.append(_less(read_delta(spark, place, piece.version).select(nothing.columns), piece))
        elif piece.gone:
            found.append(_less(_scanned(spark, ddl, place), piece))
        else:
            whole.append(place)
    if whole:
        found.append(_scanned(spark, ddl, *whole))
    return reduce(DataFrame.unionByName, found) if found else nothing


def _scanned(spark: SparkSession, ddl: str, *places: str) -> DataFrame:
    """The rows of folders and of the partitions below: what these are called is not looked at."""
    return spark.read.schema(ddl).option("recursiveFileLookup", "true").parquet(*places)


def _less(rows: DataFrame, piece: StoredPiece) -> DataFrame:
    """Rows, less those of the piece that later ones replaced."""
    if not piece.gone:
        return rows
    gone = F.broadcast(local_rows(rows.sparkSession, [(value,) for value in piece.gone], f"{piece.column} string"))
    return rows.join(gone, piece.column, "left_anti").select(rows.columns)


def read_partitioned(spark: SparkSession, folder: str, pieces: Iterable[StoredPiece], table: Table) -> DataFrame:
    """The same with the columns of its partitions, where it has some: who asks for a day reads no other."""
    if table.placed_by is None:
        return read_pieces(spark, folder, pieces, table.commented_ddl)
    found: list[DataFrame] = []
    for piece in pieces:
        place = f"{folder.rstrip('/')}/{piece.folder}"
        read = spark.read.schema(table.partitioned_ddl)
        found.append(
            _less(read.parquet(place) if piece.version is None else read_delta(spark, place, piece.version), piece)
        )
    nothing = spark.createDataFrame([], table.partitioned_ddl)
    return reduce(DataFrame.unionByName, found) if found else nothing
