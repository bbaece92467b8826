"""The table of a component that was played on several Storm versions: a row a case, a column a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.reports.bundles import rows_of
from multilang_cli.reports.escape import width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from multilang_cli.reports.bundles import BundleRow
    from multilang_cli.reports.model import RunResult, Verdict
    from multilang_cli.reports.page import Page

NOT_PLAYED = "-"
LOUD: frozenset[Verdict] = frozenset({"fail", "stale", "flaky", "error"})
"""Verdicts that stand in capitals, so that they are seen where there is no colour."""
_APART = "  "
_LEAST_VERSIONS = 2
_ALL_ALIKE = "Every case that was tested passed, on all these versions alike."


def show_table(page: Page, parts: Sequence[RunResult]) -> None:
    """Show what differs among the versions or is no pass; in several tables where one is too wide for the page."""
    page.blank()
    rows = rows_of(parts)
    if not rows:
        page.para(_ALL_ALIKE)
        return
    ids = [page.fit(row.id, page.columns // 2).text for row in rows]
    lead = max(map(width, ids))
    cells = [[cell_of(verdict) for verdict in row.verdicts] for row in rows]
    heads = [part.storm for part in parts]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for number, (begin, end) in enumerate(_fitting(widths, page.columns - lead)):
        if number:
            page.blank()
        for name, line in zip(["", *ids], [heads, *cells], strict=True):
            shown = (f"{_APART}{cell:{wide}}" for cell, wide in zip(line[begin:end], widths[begin:end], strict=True))
            page.line(name + " " * (lead - width(name)) + "".join(shown), "" if name else "bold")


def cell_of(verdict: Verdict | None) -> str:
    """A verdict in a table."""
    if verdict is None:
        return NOT_PLAYED
    return verdict.upper() if verdict in LOUD else verdict


def lines_of(rows: Sequence[BundleRow]) -> Iterator[list[str]]:
    """The rows as cells, for a table of another kind."""
    for row in rows:
        yield [row.id, *map(cell_of, row.verdicts)]


def _fitting(widths: list[int], room: int) -> Iterator[tuple[int, int]]:
    """Spans of columns that fit side by side."""
    begin, used = 0, 0
    for place, wide in enumerate(widths):
        used += wide + len(_APART)
        if used > room and place - begin >= _LEAST_VERSIONS:
            yield begin, place
            begin, used = place, wide + len(_APART)
    yield begin, len(widths)
