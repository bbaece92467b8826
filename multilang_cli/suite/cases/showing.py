"""A case shown to people: what it asks, the sentence it stands on, its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.reports.failure import show_clause
from multilang_cli.reports.page import Page

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.suite.cases.case import Case


def render_case(case: Case, console: Console) -> None:
    """Show a case: what it asks, the sentence it stands on, its steps."""
    page = Page(console)
    kinds = "bolts and spouts" if case.kind == "both" else f"{case.kind}s"
    page.para(case.title, "bold", label=case.id)
    page.para(f"{case.level}, {kinds}{f', since {case.since}' if case.since else ''}", indent=2)
    page.blank()
    show_clause(page, case.clause)
    page.para(case.expected, label="Expected", indent=2, hang=12)
    if case.needs:
        page.para(", ".join(case.needs), label="Needs", indent=2, hang=12)
    page.para("Steps", "bold", indent=2)
    for name, arguments in case.steps:
        page.line(" ".join([name, *(f"{key}={value!r}" for key, value in arguments.items())]), indent=4)
    subject = "--testee DIR" if case.testee else "-- COMMAND"
    page.line(f"Run it:  mlcheck run -k {case.id} {subject}", indent=2)
