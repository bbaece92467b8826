"""Marks of the ack framework, as a topology's history has them. What taps recorded: see ``trees``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.inputs import run_of
from multilang_cli.audit.marks import marks_of_line
from multilang_cli.audit.tables import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame


_MARKS = arrow_schema(MARKS.columns)


def of_history(lines: DataFrame) -> DataFrame:
    """The table marks of lines of histories (columns `text`, bytes, and `file`). A folder is a run. Certain."""
    return lines.select("file", "text").mapInArrow(_history_batches, MARKS.ddl)


def _history_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        lines = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        yield _batch([(run_of(file), *mark) for file, text in lines for mark in marks_of_line(text) or ()])


def _batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns: list[Any] = list(zip(*rows, strict=True)) or [[] for _ in _MARKS]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _MARKS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_MARKS)
