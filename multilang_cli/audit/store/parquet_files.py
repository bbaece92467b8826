"""Parquet files of tables that are Arrow already, written and read without Spark, in folders of this machine.

Spark writes rows, a value at a time: batches that Python has made go into a file whole, for a fifth of that.
"""

from __future__ import annotations

import json
from functools import reduce
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.store.manifest import ManifestError, listed
from multilang_cli.transcript.private import make_private

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from multilang_cli.audit.columns import Table, TableColumn
    from multilang_cli.audit.store.manifest import StoredPiece
    from multilang_cli.audit.store.partitions import Part

ROW_GROUP_BYTES = 64 * 1024 * 1024
"""Bytes of rows that become one row group, about: so many are kept until they are written."""
_SPARKS = b"org.apache.spark.sql.parquet.row.metadata"
"""Where Spark finds what it wrote of columns, their comments too."""
_UNREADABLE = (pa.ArrowException, OSError, UnicodeDecodeError)
"""Errors of files that no audit has written so, or that were damaged since."""
_LONGEST_REASON = 300
"""Characters of such an error that are told."""
_SPELT = {"bigint": "long", "int": "integer"}
_UNIQUE = frozenset(
    {"raw", "header", "values", "id", "seq", "line", "t", "at", "settled_seq", "after", "waiting", "edge"}
)
"""Columns that hardly have a value twice: a dictionary of them would be given up after it was made."""


def commented_schema(table: Table) -> pa.Schema:
    """The table's columns, each with its meaning where Spark looks for it."""
    fields = [
        {"name": each.name, "type": _spark_type(each.type), "nullable": True, "metadata": {"comment": each.meaning}}
        for each in table.columns
    ]
    told = json.dumps({"type": "struct", "fields": fields}, ensure_ascii=False)
    return arrow_schema(table.columns).with_metadata({_SPARKS: told.encode()})


def _spark_type(spelt: str) -> Any:
    if spelt == "map<string,string>":
        return {"type": "map", "keyType": "string", "valueType": "string", "valueContainsNull": True}
    if spelt.startswith("array<"):
        inner = _spark_type(spelt.removeprefix("array<").removesuffix(">"))
        return {"type": "array", "elementType": inner, "containsNull": True}
    return _SPELT.get(spelt, spelt)


def write_passing(
    batches: Iterable[pa.RecordBatch], path: Path, schema: pa.Schema, own: str, part: Part | None = None
) -> Iterator[pa.RecordBatch]:
    """Hand batches on, and write them into a file that is there when all were, or not at all.

    `own`: a word that no other task has which may be writing this file too. `part`: parts batches; each piece goes into
    a file of that name in a folder of its own beside `path`, and if there is none no file is written.
    """
    files = _PartedFiles(path, schema, own)
    try:
        if part is None:
            files.open("")
        for batch in batches:
            for folder, piece in part(batch) if part else (("", batch),):
                files.add(folder, piece)
            yield batch
        files.publish()
    finally:
        files.close()


class _PartedFiles:
    """Files of one name in several folders, each written beside its place until all are whole."""

    def __init__(self, path: Path, schema: pa.Schema, own: str) -> None:
        self._path = path
        self._schema = schema
        self._own = own
        self._files: dict[str, pq.ParquetWriter] = {}
        self._kept: dict[str, list[pa.RecordBatch]] = {}
        self._size = 0

    def open(self, folder: str) -> None:
        """Begin the file of a folder."""
        path = self._hidden(folder)
        make_private(path.parent)
        repeated = [name for name in self._schema.names if name not in _UNIQUE]
        self._files[folder] = pq.ParquetWriter(path, self._schema, use_dictionary=repeated, write_statistics=repeated)

    def add(self, folder: str, batch: pa.RecordBatch) -> None:
        """Add rows to the file of a folder."""
        self._kept.setdefault(folder, []).append(batch.replace_schema_metadata(self._schema.metadata))
        self._size += batch.nbytes
        if self._size >= ROW_GROUP_BYTES:
            self._write()

    def publish(self) -> None:
        """Give all files their names."""
        self._write()
        for folder, file in self._files.items():
            file.close()
            self._hidden(folder).replace(self._place(folder))

    def close(self) -> None:
        """Remove what was not published."""
        for folder, file in self._files.items():
            file.close()
            self._hidden(folder).unlink(missing_ok=True)

    def _write(self) -> None:
        """Write what is kept, a row group a file."""
        for folder, batches in self._kept.items():
            if folder not in self._files:
                self.open(folder)
            self._files[folder].write_table(pa.Table.from_batches(batches))
        self._kept.clear()
        self._size = 0

    def _place(self, folder: str) -> Path:
        return self._path.parent / folder / self._path.name

    def _hidden(self, folder: str) -> Path:
        path = self._place(folder)
        return path.with_name(f".{path.name}.{self._own}")


def write_batches(batches: Iterable[pa.RecordBatch], folder: str, schema: pa.Schema) -> None:
    """Write a folder of one file."""
    Path(folder).mkdir(parents=True)
    for _ in write_passing(batches, Path(folder, "part-00000.parquet"), schema, "driver"):
        pass


def check_files(folder: str, pieces: Iterable[StoredPiece], columns: Sequence[TableColumn]) -> None:
    """Look whether each file of a table in a folder of this machine is one of Parquet, with these columns.

    A piece without a row may have no file. Raises ManifestError: who packed the folder may have put anything there.
    """
    for piece in pieces:
        if piece.version is not None:
            continue
        for path in listed(Path(folder, piece.folder)):
            if not path.is_file():
                raise _unreadable(path, "it is no file")
            try:
                missing = {each.name for each in columns}.difference(pq.read_schema(path).names)
            except _UNREADABLE as error:
                raise _unreadable(path, error) from None
            if missing:
                raise _unreadable(path, f"it lacks the column {min(missing)}")


def _unreadable(path: Path | str, why: object) -> ManifestError:
    told = " ".join(str(why).split())[:_LONGEST_REASON]
    return ManifestError(
        f"{path} can't be read: {told}; give --overwrite to make the tables anew, or choose another folder"
    )


def read_batches(
    folder: str,
    pieces: Iterable[StoredPiece],
    columns: Sequence[TableColumn],
    names: Sequence[str] = (),
    of: Mapping[str, Collection[Any]] | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of a table's pieces, less what later ones replaced. `names`: of columns, all unless told.

    `of`: by column, which of its values are wanted. Raises ManifestError for what can't be read.
    """
    for piece in pieces:
        wants = {*names, piece.column, *(of or ())}
        schema = arrow_schema(each for each in columns if not names or each.name in wants)
        place = f"{folder.rstrip('/')}/{piece.folder}"
        check_files(folder, [piece], [each for each in columns if each.name in schema.names])
        conditions = [ds.field(name).isin(list(values)) for name, values in (of or {}).items()]
        if piece.gone:
            conditions.append(~ds.field(piece.column).isin(list(piece.gone)))
        chosen = reduce(and_, conditions) if conditions else None
        try:
            rows = ds.dataset(place, schema=schema, format="parquet")
            for batch in rows.to_batches(columns=list(names) or None, filter=chosen):
                batch.validate(full=True)
                yield batch
        except _UNREADABLE as error:
            raise _unreadable(place, error) from None


def tuples_of(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Any, ...]]:
    """Rows of batches, one by one: for few."""
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
