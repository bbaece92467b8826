"""Marks of the ack framework: as a topology's history has them, or inferred from taps, which never see a root.

What can be inferred: Storm keeps the order between two tasks, so the k-th tuple that task A emitted to task B on a
stream is the k-th that B got from A on it. Which tasks an emit went to stands in the reply with task ids, or in a
direct emit; where nobody asked, equal values are taken for each other in their order. Hashes of values check it all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.inputs import run_of
from multilang_cli.audit.marks import alone_of_line, marks_of_line
from multilang_cli.audit.stages.trees import marks_of_taps
from multilang_cli.audit.tables import MARKS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from pyspark.sql import DataFrame

    from multilang_cli.audit.stages.facts import AuditFacts

_MARKS = arrow_schema(MARKS.columns)


def of_history(lines: DataFrame) -> DataFrame:
    """The table marks of lines of histories (columns `text`, bytes, and `file`). A folder is a run. Certain."""
    return lines.select("file", "text").mapInArrow(_history_batches, MARKS.ddl)


def of_lines(lines: DataFrame) -> DataFrame:
    """The table marks of lines of transcripts (columns as above), each read on its own: one tree for each tuple.

    A spout's is what it was told of a message id; a bolt's is a tuple that it got, and what it said of it. A run is a
    conversation.
    """
    return lines.select("file", "text").mapInArrow(_transcript_batches, MARKS.ddl)


def of_taps(facts: AuditFacts, events: DataFrame, runs: Collection[str] | None = None) -> DataFrame:
    """The table marks, inferred from the table events; `facts`: of the conversations to look at; `runs`: those wanted.

    Parts of it are computed at once, and kept by executors: not for a cluster that takes executors away meanwhile.
    """
    return marks_of_taps(facts, events, runs)


def _transcript_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        lines = batch.column(1).to_pylist()
        yield _batch([(conv, *mark) for text in lines for conv, mark in alone_of_line(text)], _MARKS)


def _history_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        lines = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        yield _batch([(run_of(file), *mark) for file, text in lines for mark in marks_of_line(text) or ()], _MARKS)


def _batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns: list[Any] = list(zip(*rows, strict=True)) or [[] for _ in schema]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
