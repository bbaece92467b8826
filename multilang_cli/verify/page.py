"""Page of ``mlcheck verify-storm``: what changed, so that it is seen at a glance."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from multilang_cli.reports.counting import counted
from multilang_cli.reports.page import Page
from multilang_cli.verify.comparing import groups

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.verify.comparing import DifferenceGroup
    from multilang_cli.verify.verification import Verification

MOST_ERRORS = 3


def render_verification(found: Verification, console: Console, *, verbose: bool = False) -> None:
    """Show what differs, in groups. `verbose`: with what Storm did in each script, now and before if that differs."""
    page = Page(console)
    sorted_out = groups(found.differences)
    for number, group in enumerate(sorted_out):
        if number == 0 or group.fates != sorted_out[number - 1].fates:
            page.line("Fates that changed" if group.fates else "Same fate, but", "bold")
        _show_group(page, group, verbose=verbose)
    if verbose:
        _show_equal(page, found)
    if found.wavering:
        cases = counted(len(found.wavering), "case")
        page.para(f"{cases} differed once and not when asked again: {', '.join(found.wavering)}", label="Note:")
    _show_summary(page, found)


def _show_equal(page: Page, found: Verification) -> None:
    differing = {each.case for each in found.differences}
    for case, verdict in found.verdicts.items():
        if case in differing:
            continue
        page.line(f"{case}: {', '.join(filter(None, (verdict['verdict'], verdict.get('how'))))}")
        for error in verdict.get("error", ())[:1]:
            page.para(error, indent=2, hang=4)
        for event in verdict.get("events", ()):
            if event["t"] != "error":
                page.para(json.dumps(event, ensure_ascii=False), indent=2, hang=4)


def _show_group(page: Page, group: DifferenceGroup, *, verbose: bool) -> None:
    rules = f" (rules {', '.join(group.rules)})" if group.rules else ""
    label = f"{group.title}: {counted(len(group.differences), 'case')}"
    page.para(f"{label}{rules}", "bold red" if group.fates else "", indent=2, hang=4)
    when = "now" if group.differences[0].now == "dies" else "before"
    for error, times in group.errors[:MOST_ERRORS]:
        page.para(f"{times} {when} with {error}", "dim", indent=6, hang=8)
    if len(group.errors) > MOST_ERRORS:
        page.para(f"and {len(group.errors) - MOST_ERRORS} other errors", "dim", indent=6)
    if not verbose:
        page.para(", ".join(each.case for each in group.differences), indent=6)
        return
    for each in group.differences:
        page.line(each.case, indent=6)
        for part in each.parts:
            page.para(f"now {_told(part.now)}", label=part.key, indent=8, hang=10)
            page.para(f"was {_told(part.before)}", indent=10)


def _show_summary(page: Page, found: Verification) -> None:
    base = "what is recorded" if found.base == found.storm else f"Storm {found.base}, the nearest that is recorded"
    asked, differ = counted(len(found.verdicts), "case"), len(found.differences)
    if not differ:
        text = f"Storm {found.storm} does the same in {asked}, compared with {base}."
        page.para(text, "bold green", label="SAME")
        return
    fates = sum(each.now != each.before for each in found.differences)
    page.para(
        f"Storm {found.storm} does something else in {differ} of {asked}, {fates} of them with another fate, "
        f"compared with {base}.",
        "bold red",
        label="DIFFERS",
    )


def _told(value: object) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
