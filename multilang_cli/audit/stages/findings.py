"""The judge itself, on the executors: the tables findings and outlooks, the same as ``mlcheck lint`` gives."""

from __future__ import annotations

from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.hearing import hear
from multilang_cli.audit.outline import COPY
from multilang_cli.audit.tables import FINDINGS, OUTLOOKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

_COLUMNS = {column.name: column for column in (*FINDINGS.columns, *OUTLOOKS.columns)}
_SCHEMA = arrow_schema(_COLUMNS.values())
DDL = ", ".join(f"`{column.name}` {column.type}" for column in _COLUMNS.values())
TOGETHER = 1024


class Judged(NamedTuple):
    """The tables of this stage."""

    findings: DataFrame
    outlooks: DataFrame


def judged(conversations: DataFrame, events: DataFrame, quarantine: DataFrame, storm: str = "") -> DataFrame:
    """What the judge finds: findings, and outlooks, which have a `version`. `storm`: judge for it, "" as recorded.

    One task hears a whole conversation, from its first part to its last, and keeps nothing of it but the judge's state.
    """
    heads = conversations.selectExpr("conv", "part", "line", "'header' as what", "header as raw")
    lines = events.selectExpr("conv", "part", "line", "'event' as what", "raw")
    # A damaged line may have been of any conversation of its file.
    spans = events.groupBy("file", "conv", "part").agg({"line": "min"}).withColumnRenamed("min(line)", "since")
    bad = quarantine.where(f"not startswith(reason, '{COPY}')").select("file", "line")
    behind = bad.join(spans, "file").where("line > since")
    damaged = behind.selectExpr("conv", "part", "line", "'damaged' as what", "cast(null as binary) as raw")
    ordered = heads.unionByName(lines).unionByName(damaged)
    ordered = ordered.repartition("conv").sortWithinPartitions("conv", "part", "line")
    return ordered.select("conv", "part", "what", "raw").mapInArrow(partial(_judge_batches, storm=storm), DDL)


def tables(found: DataFrame) -> Judged:
    """The two tables of what was judged; it is used twice, so it is best kept."""
    return Judged(
        found.where("version is null").select([column.name for column in FINDINGS.columns]),
        found.where("version is not null").select([column.name for column in OUTLOOKS.columns]),
    )


def _judge_batches(batches: Iterable[pa.RecordBatch], storm: str) -> Iterator[pa.RecordBatch]:
    lines = chain.from_iterable(
        zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in batches
    )
    rows = hear(lines, storm)
    while some := list(islice(rows, TOGETHER)):
        yield pa.RecordBatch.from_arrays([_array(some, field) for field in _SCHEMA], schema=_SCHEMA)


def _array(rows: list[dict[str, Any]], field: pa.Field) -> pa.Array:
    values = [row.get(field.name) for row in rows]
    if pa.types.is_map(field.type):
        values = [None if value is None else list(value.items()) for value in values]
    return pa.array(values, field.type)
