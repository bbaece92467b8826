"""Columns of the audit's tables. Types are Spark SQL's names."""

from __future__ import annotations

from typing import NamedTuple


class TableColumn(NamedTuple):
    """One column. `type`: as Spark SQL spells it."""

    name: str
    type: str
    meaning: str


class Table(NamedTuple):
    """One table. `about`: one sentence."""

    name: str
    about: str
    columns: tuple[TableColumn, ...]

    @property
    def ddl(self) -> str:
        """The columns as Spark reads them."""
        return ", ".join(f"`{column.name}` {column.type}" for column in self.columns)

    @property
    def commented_ddl(self) -> str:
        """The same, each column with its meaning."""
        told = ((column, column.meaning.replace("\\", "\\\\").replace("'", "\\'")) for column in self.columns)
        return ", ".join(f"`{column.name}` {column.type} comment '{meaning}'" for column, meaning in told)
