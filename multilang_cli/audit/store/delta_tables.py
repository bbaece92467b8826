"""Tables as Delta Lake keeps them: each run's change of a table is one commit, marked with the run's name.

What counts is the version that the manifest names. A run that crashed between two tables left commits that no manifest
has: the next one begins each table at the version of its manifest, so no row of the other stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pyspark.sql import DataFrame, SparkSession

PACKAGES = {"4.0": "io.delta:delta-spark_2.13:4.0.0", "3.5": "io.delta:delta-spark_2.12:3.3.2"}
"""Delta's package for each PySpark that it was made for."""


class DeltaMissingError(Exception):
    """Delta Lake has no package for the PySpark that is installed; the message says for which it has."""


def delta_settings() -> dict[str, str]:
    """Spark's settings for Delta tables. Raises DeltaMissingError."""
    made_for = ".".join(pyspark.__version__.split(".")[:2])
    if made_for not in PACKAGES:
        raise DeltaMissingError(
            f"--format delta needs PySpark {' or '.join(PACKAGES)}, and {pyspark.__version__} is installed"
        )
    return {
        "spark.jars.packages": PACKAGES[made_for],
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # Rows that come say what they replace by their conversation or file, of which they may have none.
        "spark.databricks.delta.replaceWhere.constraintCheck.enabled": "false",
        # Its own 50 are for tables of millions of files.
        "spark.databricks.delta.snapshotPartitions": "2",
    }


def read_delta(spark: SparkSession, place: str, version: int) -> DataFrame:
    """The rows that a table had at a version."""
    return spark.read.format("delta").option("versionAsOf", version).load(place)


def write_delta(
    rows: DataFrame,
    place: str,
    run: str,
    before: int | None,
    gone: tuple[str, Collection[str]],
    *,
    partitions: Sequence[str] = (),
) -> int:
    """Write what a run made of a table; returns the version that has it.

    `before`: the version that the run began with; None for a table that is made anew. `gone`: a column, and which of
    its values the rows replace; no column for all rows. `partitions`: columns by which rows are parted.
    """
    spark = rows.sparkSession
    column, values = gone
    writer = rows.write.format("delta").mode("overwrite").option("userMetadata", run).partitionBy(*partitions)
    if before is None or not column:
        writer.option("overwriteSchema", "true").save(place)
    else:
        _restore(spark, place, before)
        replaced = f"{column} in ({', '.join(map(_literal, values))})" if values else "false"
        writer.option("replaceWhere", replaced).save(place)
    # Another writer, who can't be refused in a store behind a URL, may have come after; a change of nothing is none.
    commits = spark.sql(f"describe history {_table(place)}").select("version", "userMetadata").collect()
    return next((int(version) for version, whose in commits if whose == run), before or 0)


def _restore(spark: SparkSession, place: str, version: int) -> None:
    newest = spark.sql(f"describe history {_table(place)} limit 1").collect()[0].version
    if newest != version:
        spark.sql(f"restore table {_table(place)} to version as of {version}")


def _table(place: str) -> str:
    return f"delta.`{place.replace('`', '``')}`"


def _literal(text: str) -> str:
    """A text of a recording as SQL has it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
