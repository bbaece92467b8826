"""Cells of the page of an audit: times of the calendar as dates, seconds named in the heads."""

from __future__ import annotations

from typing import Any

import pytest

from multilang_cli.audit.pages.cells import cell, head, moment
from multilang_cli.audit.tables import TABLES
from multilang_cli.reports.html.document import Cell

HEADS = {
    (table, column.name): head(column)
    for table in ("roots", "restarts", "silences")
    for column in TABLES[table].columns
}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("emitted", 1_767_600_000.25, "2026-01-05 08:00:00.250"),
        ("first_at", 1_767_600_000.0, "2026-01-05 08:00:00.000"),
        ("emitted", 12.5, "12.5 s"),
        ("latency", 12.5, "12.5"),
        ("edges", 3, "3"),
        ("emitted", 1e300, "1e+300 s"),
    ],
)
def test_a_time_of_the_calendar_is_a_date(name: str, value: float, text: str) -> None:
    assert cell(name, value) == Cell(text=text, value=float(value))


@pytest.mark.parametrize(("value", "text"), [(None, "-"), ([1, 2], "1, 2"), (True, "True")])
def test_what_is_no_number_is_a_text(value: Any, text: str) -> None:
    assert cell("tasks", value) == text


def test_a_head_names_the_unit_and_dates_stand_left() -> None:
    assert HEADS["roots", "latency"].name == "latency (s)"
    assert HEADS["silences", "t"].name == "t (s)"
    assert (HEADS["roots", "open_since"].name, HEADS["roots", "open_since"].align) == ("open since", "left")
    assert HEADS["restarts", "first_at"].name == "first at"
    assert HEADS["roots", "edges"].align == "right"


def test_a_moment_that_no_calendar_has_stays_a_number() -> None:
    assert moment(float("inf")) == "inf s"
