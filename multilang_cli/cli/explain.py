"""``mlcheck explain``."""

from typing import Annotated

import typer
from rich.console import Console

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.cli.app import Color
from multilang_cli.cli.exits import CommandError
from multilang_cli.cli.output import stdout_may_close
from multilang_cli.cli.shared import console_of
from multilang_cli.reports.explain import render_rule
from multilang_cli.reports.failure import show_clause
from multilang_cli.reports.page import Page
from multilang_cli.suite.case import Case, load_cases
from multilang_cli.suite.nearest import did_you_mean


def explain(name: Annotated[str, typer.Argument(metavar="RULE|CASE", hidden=True)], color: Color = None) -> int:
    """Explain a rule or a case.

    RULE or CASE: its id, such as ack-twice; `mlcheck list rules` and `mlcheck list cases` show them all.
    """
    console = console_of(color)
    rulebook = load_rulebook()
    if name in rulebook.rules:
        with stdout_may_close():
            render_rule(rulebook.rules[name], rulebook, console)
        return 0
    cases = {case.id: case for case in (*load_cases(), *load_cases("library"))}
    if name not in cases:
        hint = did_you_mean(name, [*rulebook.rules, *cases])
        raise CommandError(
            f"explain: there is no rule or case {name[:60]!r}{hint} `mlcheck list rules` shows all rules."
        )
    with stdout_may_close():
        render_case(cases[name], console)
    return 0


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
