"""Made roots as Arrow tables: marks and the truth, for Parquet files and for Spark's executors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.columns import TableColumn
from multilang_cli.audit.tables import MARKS
from tests.audit.generator.histories import marks
from tests.audit.generator.trees import make

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.audit.generator.trees import Made, TreesPlan

RUN = "made"
TRUTH = arrow_schema(
    (
        TableColumn("root", "bigint", ""),
        TableColumn("verdict", "string", ""),
        TableColumn("open_edge", "bigint", ""),
        TableColumn("open_task", "int", ""),
    )
)
MARKS_SCHEMA = arrow_schema(MARKS.columns)


def mark_table(made: Iterable[Made]) -> pa.Table:
    """The table marks, in the order of time."""
    rows = sorted((mark for each in made for mark in marks(each)), key=lambda mark: mark.t)
    return _table([{"run": RUN, **row._asdict()} for row in rows], MARKS_SCHEMA)


def truth_table(made: Iterable[Made]) -> pa.Table:
    """By root the verdict, and the first open edge with its holder."""
    return _table([_truth(each) for each in made], TRUTH)


def both(plan: TreesPlan, numbers: range) -> tuple[pa.Table, pa.Table]:
    """Marks and truth of some roots."""
    made = [make(plan, number) for number in numbers]
    return mark_table(made), truth_table(made)


def _truth(made: Made) -> dict[str, Any]:
    node = made.open
    edge, task = (None, None) if node is None else (node.edge, node.target)
    return {"root": made.root, "verdict": made.verdict, "open_edge": edge, "open_task": task}


def _table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    columns = [pa.array([row[field.name] for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)
