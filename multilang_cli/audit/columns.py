"""Columns of the audit's tables. Types are Spark SQL's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class TableColumn(NamedTuple):
    """One column. `type`: as Spark SQL spells it."""

    name: str
    type: str
    meaning: str


class PlacedBy(NamedTuple):
    """The columns that tell the partition of a row: the conversation or the run that it is of, and its time there."""

    key: str
    time: str


class Table(NamedTuple):
    """One table. `about`: one sentence. `placed_by`: of a table in partitions."""

    name: str
    about: str
    columns: tuple[TableColumn, ...]
    placed_by: PlacedBy | None = None

    @property
    def ddl(self) -> str:
        """The columns as Spark reads them."""
        return ", ".join(f"`{column.name}` {column.type}" for column in self.columns)

    @property
    def commented_ddl(self) -> str:
        """The same, each column with its meaning."""
        return _commented(self.columns)

    @property
    def all_columns(self) -> tuple[TableColumn, ...]:
        """The columns, and of a table in partitions those that stand in the names of its folders."""
        return self.columns + PARTITIONS * (self.placed_by is not None)

    @property
    def partitioned_ddl(self) -> str:
        """All of them, each with its meaning."""
        return _commented(self.all_columns)


PARTITIONS = (
    TableColumn("topology", "string", "the topology's name, cut at 100 characters; null if the recording does not say"),
    TableColumn(
        "day", "date", "the day on which it happened, in UTC; null if the recording does not say when it began"
    ),
)
"""Columns of a table that is in partitions, in the names of its folders alone: `topology=NAME/day=2026-11-28`."""


def _commented(columns: Iterable[TableColumn]) -> str:
    told = ((column, column.meaning.replace("\\", "\\\\").replace("'", "\\'")) for column in columns)
    return ", ".join(f"`{column.name}` {column.type} comment '{meaning}'" for column, meaning in told)
