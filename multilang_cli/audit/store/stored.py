"""Tables of an audit's folder, as its newest manifest has them: what every reader should go through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.inputs import here
from multilang_cli.audit.store.local_rows import local_rows
from multilang_cli.audit.store.manifest import ManifestError, newest
from multilang_cli.audit.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame, SparkSession

    from multilang_cli.audit.store.manifest import StoredPiece


def stored_tables(spark: SparkSession, folder: str) -> dict[str, DataFrame]:
    """Every table by its name. Raises ManifestError if there are none."""
    folder = here(folder)
    manifest = newest(spark, folder)
    if manifest is None:
        raise ManifestError(f"there are no tables of an audit in {folder}")
    return {
        name: read_pieces(spark, folder, pieces, TABLES[name].commented_ddl)
        for name, pieces in manifest.tables.items()
        if name in TABLES
    }


def read_pieces(spark: SparkSession, folder: str, pieces: Iterable[StoredPiece], ddl: str) -> DataFrame:
    """The rows of a table's pieces, less what later ones replaced. There is at least one piece."""
    found: DataFrame | None = None
    for piece in pieces:
        rows = spark.read.schema(ddl).parquet(f"{folder.rstrip('/')}/{piece.folder}")
        if piece.gone:
            gone = F.broadcast(local_rows(spark, [(value,) for value in piece.gone], f"{piece.column} string"))
            rows = rows.join(gone, piece.column, "left_anti").select(rows.columns)
        found = rows if found is None else found.unionByName(rows)
    assert found is not None  # noqa: S101 (see above)
    return found
