"""The judge itself, on the executors: the tables findings and outlooks, the same as ``mlcheck lint`` gives."""

from __future__ import annotations

from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.hearing import hear
from multilang_cli.audit.outline import AGAIN
from multilang_cli.audit.tables import FINDINGS, OUTLOOKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

_COLUMNS = {column.name: column for column in (*FINDINGS.columns, *OUTLOOKS.columns)}
_SCHEMA = arrow_schema(_COLUMNS.values())
DDL = ", ".join(f"`{column.name}` {column.type}" for column in _COLUMNS.values())
ROWS_TOGETHER = 1024


class JudgedTables(NamedTuple):
    """The tables of this stage."""

    findings: DataFrame
    outlooks: DataFrame


def judged(conversations: DataFrame, events: DataFrame, quarantine: DataFrame | None, storm: str = "") -> DataFrame:
    """Findings, and outlooks, which have a `version`. `storm`: judge for it, "" as recorded.

    One task hears a whole conversation, from its first part to its last, and keeps nothing of it but the judge's state.
    `quarantine`: None where every line is well.
    """
    ordered = conversations.selectExpr("conv", "part", "-1L as place", "'header' as what", "header as raw")
    if quarantine is None:
        ordered = ordered.unionByName(events.selectExpr("conv", "part", "seq as place", "'event' as what", "raw"))
    else:
        damaged = _damaged(events, quarantine)
        ordered = ordered.unionByName(_placed(events, damaged)).unionByName(damaged)
    ordered = ordered.repartition("conv").sortWithinPartitions("conv", "part", "place")
    return ordered.select("conv", "part", "what", "raw").mapInArrow(partial(_judge_batches, storm=storm), DDL)


def _damaged(events: DataFrame, quarantine: DataFrame) -> DataFrame:
    """Lines that can't be read: each may have been of any conversation of its file."""
    bad = quarantine.where(f"not startswith(reason, '{AGAIN}')").select("file", "line")
    near = events.join(F.broadcast(bad.select("file").distinct()), "file", "left_semi")
    spans = near.groupBy("file", "conv", "part").agg({"line": "min"}).withColumnRenamed("min(line)", "since")
    behind = bad.join(spans, "file").where("line > since")
    return behind.selectExpr("conv", "part", "line as place", "'damaged' as what", "cast(null as binary) as raw")


def _placed(events: DataFrame, damaged: DataFrame) -> DataFrame:
    """Events in order: those that were swapped on their way by their numbers, but where a line is damaged, by lines."""
    hurt = F.broadcast(damaged.select("conv", "part").distinct().withColumn("hurt", F.lit(True)))
    rows = events.join(hurt, ["conv", "part"], "left")
    return rows.selectExpr("conv", "part", "if(hurt, line, seq) as place", "'event' as what", "raw")


def tables(found: DataFrame) -> JudgedTables:
    """The two tables of what was judged; it is used twice, so it is best kept."""
    return JudgedTables(
        found.where("version is null").select([column.name for column in FINDINGS.columns]),
        found.where("version is not null").select([column.name for column in OUTLOOKS.columns]),
    )


def _judge_batches(batches: Iterable[pa.RecordBatch], storm: str) -> Iterator[pa.RecordBatch]:
    lines = chain.from_iterable(
        zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in batches
    )
    rows = hear(lines, storm)
    while some := list(islice(rows, ROWS_TOGETHER)):
        yield pa.RecordBatch.from_arrays([_array(some, field) for field in _SCHEMA], schema=_SCHEMA)


def _array(rows: list[dict[str, Any]], field: pa.Field) -> pa.Array:
    values = [row.get(field.name) for row in rows]
    if pa.types.is_map(field.type):
        values = [None if value is None else list(value.items()) for value in values]
    return pa.array(values, field.type)
