"""SQL views of an audit's tables, as its newest manifest has them: for Spark, and for engines that read Parquet.

``python -m multilang_cli.audit.store.views audit > audit.sql`` prints those for duckdb; it starts no Spark.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multilang_cli.audit.columns import PARTITIONS
from multilang_cli.audit.inputs import here, is_url
from multilang_cli.audit.store.manifest import ManifestError, listed, newest
from multilang_cli.audit.tables import TABLES
from multilang_cli.terminal.exits import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession

    from multilang_cli.audit.columns import Table
    from multilang_cli.audit.store.manifest import StoredPiece

_NO_SPARK: Any = None
"""On this machine a manifest is read without one."""


def views(spark: SparkSession, folder: str) -> tuple[str, ...]:
    """Make a temporary view of each table in `folder`, by its name; returns the names. Raises ManifestError.

    A view has the rows that counted when it was made: make them again after the next run.
    """
    from multilang_cli.audit.store.stored import stored_tables  # noqa: PLC0415 (needs Spark)

    known = stored_tables(spark, folder)
    for name in known:
        known.partitioned(name).createOrReplaceTempView(name)
    return tuple(known)


def view_sql(folder: str) -> str:
    """Statements that make the same views in duckdb, of tables on this machine. Raises ManifestError."""
    folder = here(folder)
    if is_url(folder):
        raise ManifestError(f"{folder} is not on this machine; from PySpark, `views` has its tables")
    manifest = newest(_NO_SPARK, folder)
    if manifest is None:
        raise ManifestError(f"there are no tables of an audit in {folder}")
    if manifest.format != "parquet":
        raise ManifestError(f"the tables in {folder} are {manifest.format}, which needs no views of Parquet files")
    pieces = manifest.tables.items()
    return "".join(_view(TABLES[name], folder, each) for name, each in pieces if name in TABLES)


def _view(table: Table, folder: str, pieces: Iterable[StoredPiece]) -> str:
    rows = list(_selects(table, Path(folder).absolute(), pieces)) or [_empty(table)]
    told = "".join(
        f"comment on column {table.name}.{_name(column.name)} is {_text(column.meaning)};\n"
        for column in table.all_columns
    )
    union = "\nunion all\n".join(rows)
    return f"create or replace view {table.name} as\n{union};\n{told}"


def _selects(table: Table, folder: Path, pieces: Iterable[StoredPiece]) -> Iterator[str]:
    columns = ", ".join(_name(column.name) for column in table.all_columns)
    types = ", ".join(f"{_text(column.name)}: {_type(column.type)}" for column in PARTITIONS)
    parted = f", hive_partitioning = true, hive_types = {{{types}}}" if table.placed_by else ""
    for piece in pieces:
        # A piece without a row may have no file.
        files = sorted(path for path in listed(folder / piece.folder) if path.suffix == ".parquet")
        if not files:
            continue
        quoted = ", ".join(_text(str(path)) for path in files)
        select = f"select {columns} from read_parquet([{quoted}]{parted})"  # noqa: S608 (names of ours, texts are quoted)
        if piece.gone:
            name, gone = _name(piece.column), ", ".join(map(_text, piece.gone))
            select += f" where {name} is null or {name} not in ({gone})"
        yield select


def _empty(table: Table) -> str:
    nothing = ", ".join(f"cast(null as {_type(column.type)}) as {_name(column.name)}" for column in table.all_columns)
    return f"select {nothing} where false"


def _type(spelt: str) -> str:
    if spelt.startswith("array<"):
        return f"{_type(spelt.removeprefix('array<').removesuffix('>'))}[]"
    if spelt.startswith("map<"):
        return f"map({spelt.removeprefix('map<').removesuffix('>')})"
    return spelt


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def main(arguments: list[str]) -> int:
    """Print the statements for the folder that is named."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m multilang_cli.audit.store.views FOLDER\n")
        return ExitCode.MISUSE
    try:
        sys.stdout.write(view_sql(arguments[0]))
    except (ManifestError, OSError) as error:
        sys.stderr.write(f"audit views: {error}\n")
        return ExitCode.MISUSE
    return ExitCode.CONFORMANT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
