"""Changes on a page: message by message, then and now. Import it lazily: it needs rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.replay.sentences import end_text, finding_text, lines_of, summary_of, title_of
from multilang_cli.reports.counting import counted
from multilang_cli.reports.formats.console import show_header
from multilang_cli.reports.grouping import some_of
from multilang_cli.reports.page import Page

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.replay.comparison import Comparison
    from multilang_cli.replay.matching import MessageDifference
    from multilang_cli.reports.model import ExcerptLine, RunResult

SHOWN_KINDS = 20
"""Kinds of differences that are shown; all others are counted."""
NAMED_DIFFERENCES = 3
"""Differences of one kind that are named besides the first."""
MOST_LINES = 3
"""Lines that one message may take."""
_STYLES = {"changed": "bold yellow", "missing": "bold red", "new": "bold red", "order": "bold yellow"}
_WORDS = {
    0: ("SAME", "bold green"),
    3: ("NO FIRST MESSAGE", "bold red"),
    6: ("INCONCLUSIVE", "bold yellow"),
    130: ("INTERRUPTED", "bold yellow"),
}


def show(comparison: Comparison, result: RunResult, console: Console, *, quiet: bool = False) -> None:
    """Show what changed and what did not, the summary last."""
    page = Page(console)
    if not quiet:
        _show_all(page, comparison, result)
    word, style = _WORDS.get(result.exit_code, ("DIFFERENT", "bold red"))
    page.para(summary_of(comparison), label=word, label_style=style, hang=len(word) + 2)
    if result.next_command and not quiet:
        page.line(f"Next: {result.next_command}")


def _show_all(page: Page, comparison: Comparison, result: RunResult) -> None:
    show_header(page, (result,))
    if comparison.input:
        page.para(comparison.input, label="told", label_style="bold red", indent=2, hang=11)
    alike: dict[tuple[str, str, str], list[MessageDifference]] = {}
    for difference in comparison.differences:
        said = difference.then or difference.now
        kind = f"{said.what} {said.stream} {said.fault}" if said is not None else ""
        alike.setdefault((difference.change, difference.what, kind), []).append(difference)
    groups = list(alike.values())
    for group in groups[:SHOWN_KINDS]:
        _show_difference(page, group[0], group[1:])
    if more := sum(map(len, groups[SHOWN_KINDS:])):
        page.para(f"and {counted(more, 'message')} more (--report json=PATH has them)", indent=2)
    _show_findings(page, comparison)
    if end := end_text(comparison):
        page.para(end, label="ended", label_style="bold red", indent=2, hang=11)
    last_words = result.component.stderr_tail.splitlines()
    if last_words and not comparison.same:
        page.para("Its last words on stderr", "bold", indent=2)
        page.lines(last_words[-8:], indent=2, bar="| ")
    if result.subjects[0].transcript:
        page.line(f"Record: {result.subjects[0].transcript}", indent=2)
    page.blank()


def _show_difference(page: Page, difference: MessageDifference, more: list[MessageDifference]) -> None:
    style = _STYLES[difference.change]
    page.para(
        f"{title_of(difference)}: {difference.what}", label=difference.change, label_style=style, indent=2, hang=11
    )
    for line in lines_of(difference):
        _show_line(page, line)
    if more:
        page.para(f"and {len(more)} more like it: {some_of(map(title_of, more), NAMED_DIFFERENCES)}", indent=11)


def _show_line(page: Page, line: ExcerptLine) -> None:
    lead = f"{line.note:>6} {line.seq:>6} {line.t:>8.3f}s  "
    shown = page.fit(line.text, (page.columns - len(lead)) * MOST_LINES)
    page.para(shown.text, label=lead.rstrip(), label_style="dim", hang=len(lead))


def _show_findings(page: Page, comparison: Comparison) -> None:
    for turned in comparison.findings:
        label, style = ("found", "bold red") if turned.change == "new" else ("gone", "bold green")
        page.para(finding_text(turned.finding), label=label, label_style=style, indent=2, hang=11)
    if comparison.lasting:
        rules = ", ".join(dict.fromkeys(finding.rule for finding in comparison.lasting))
        page.para(f"{counted(len(comparison.lasting), 'finding')} as then: {rules}", indent=2)
