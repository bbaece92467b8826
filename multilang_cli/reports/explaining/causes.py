"""A cause on a page (``mlcheck explain``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.reports.page import Page

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.causes.model import KnownCause

CAUSES_HANG = 12


def render_cause(cause: KnownCause, console: Console) -> None:
    """Show all there is to know of a cause: why it does harm, how to mend it in each language, what follows from it."""
    page = Page(console)
    page.para(cause.title, "bold", label=cause.id)
    page.para(f"a cause; {_sure(cause)}", indent=2)
    page.blank()
    page.para(cause.why, label="Why", indent=2, hang=CAUSES_HANG)
    page.blank()
    page.para(_plain(cause.mend), label="Mend", label_style="bold green", indent=2, hang=CAUSES_HANG)
    for language, code in cause.code.items():
        first, *more = code.splitlines()
        page.line(f"{language:{CAUSES_HANG}}{first}", indent=4)
        for line in more:
            page.line(line, indent=4 + CAUSES_HANG)
    if cause.folds:
        page.blank()
        page.para(", ".join(cause.folds), label="Shows as", indent=2, hang=CAUSES_HANG)
    page.blank()
    page.para("Seen as", "bold red", indent=2)
    for line in cause.example.talk.strip("\n").splitlines():
        page.line(line, indent=4)


def _sure(cause: KnownCause) -> str:
    sure = {signature.certainty or cause.certainty for signature in cause.when}
    return "named when it is certain" if sure == {"certain"} else "named when it is the likeliest, or certain"


def _plain(mend: str) -> str:
    """The mend without the braces of its words."""
    return mend.replace("{{", "\0").replace("}}", "\1").replace("{", "").replace("}", "").translate({0: "{", 1: "}"})
