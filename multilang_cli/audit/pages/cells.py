"""Cells of an audit's tables as a person reads them: times as dates, units in the heads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from multilang_cli.reports.html.document import Cell, SectionColumn
from multilang_cli.reports.html.run_sections import line

if TYPE_CHECKING:
    from multilang_cli.audit.columns import TableColumn

_NUMBERS = {"bigint", "int", "double"}
_SINCE_1970 = 100_000_000.0
"""Seconds from which on a time is one of the calendar: those of a run's history begin with the run."""
_SECONDS = ("seconds", "its time, seconds")
_CALENDAR = frozenset({"emitted", "ended", "open_since", "first_at", "last_at", "at"})
"""Columns that have times of the calendar, where these are known."""


def head(column: TableColumn) -> SectionColumn:
    """The head of a column, with its unit."""
    unit = " (s)" if column.meaning.startswith(_SECONDS) and column.name != "seconds" else ""
    right = column.type in _NUMBERS and column.name not in _CALENDAR
    return SectionColumn(name=f"{column.name.replace('_', ' ')}{unit}", align="right" if right else "left")


def cell(name: str, value: Any) -> Cell | str:
    """A value of the column of this name."""
    if value is None:
        return "-"
    if name in _CALENDAR and isinstance(value, float):
        text = moment(value) if value >= _SINCE_1970 else f"{value:.6g} s"
        return Cell(text=text, value=value)
    if isinstance(value, float):
        return Cell(text=f"{value:.6g}", value=value)
    if isinstance(value, int) and not isinstance(value, bool):
        return Cell(text=str(value), value=float(value))
    return line(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def moment(seconds: float) -> str:
    """A time of the calendar, in UTC; the number itself where no calendar has it."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    except (OverflowError, ValueError, OSError):
        return f"{seconds:.6g} s"
