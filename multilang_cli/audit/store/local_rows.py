"""Rows that the driver has, as a DataFrame that needs no task: Spark plans with them as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyspark

from multilang_cli.audit.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

_TAKES_ARROW = int(pyspark.__version__.partition(".")[0]) >= 4  # noqa: PLR2004 (the version that does)


def local_rows(spark: SparkSession, rows: Sequence[Sequence[Any]], ddl: str) -> DataFrame:
    """A few rows; `ddl`: names and types of their columns, as ``TableColumn`` spells them, each parted by ", ".

    A list given to Spark becomes a job of its own wherever it is sent to; an Arrow table of so few bytes does not.
    """
    if not _TAKES_ARROW:
        return spark.createDataFrame(list(rows), ddl)
    table: Any = pa.Table.from_batches([FewRows(rows, ddl).batch()])
    return spark.createDataFrame(table)


class FewRows(NamedTuple):
    """Rows that the driver has. `ddl`: as `local_rows` takes it."""

    rows: Sequence[Sequence[Any]]
    ddl: str

    def batch(self) -> pa.RecordBatch:
        """The same as Arrow."""
        columns = [column.split(" ") for column in self.ddl.replace("`", "").split(", ")]
        values = zip(*self.rows, strict=True) if self.rows else [()] * len(columns)
        arrays = [pa.array(each, arrow_type(spelt)) for each, (_, spelt) in zip(values, columns, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names=[name for name, _ in columns])

    def frame(self, spark: SparkSession) -> DataFrame:
        """The same as Spark has it."""
        return local_rows(spark, self.rows, self.ddl)
