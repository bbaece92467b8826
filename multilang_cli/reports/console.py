"""The pretty report: what broke and how to mend it, for a tired person. Import it lazily: it needs rich."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from multilang_cli.reports.failure import STDERR_LINES, show_group
from multilang_cli.reports.grouping import Group, families, groups_of, some_of
from multilang_cli.reports.page import DEFAULT_WIDTH, Page, make_console
from multilang_cli.reports.verdict import word_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from multilang_cli.protocol.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult, Verdict

MOST_GROUPS = 5
"""Groups shown in full; the others get a line each."""

_STYLES = {0: "bold green", 1: "bold red", 6: "bold yellow"}
_COUNTED: tuple[tuple[Verdict, str, str], ...] = (
    ("pass", "passed", "passed"),
    ("fail", "failed", "failed"),
    ("stale", "stale", "stale"),
    ("flaky", "flaky", "flaky"),
    ("error", "error of mlcheck", "errors of mlcheck"),
    ("warn", "warning", "warnings"),
    ("xfail", "known failure", "known failures"),
)


def render_pretty(result: RunResult, rulebook: Rulebook, console: Console) -> None:
    """Show a run: what was run, what broke, what was not tested, and last the summary and the next command."""
    page = Page(console)
    _show_header(page, result)
    groups = groups_of(result)
    for group in groups[:MOST_GROUPS]:
        page.blank()
        show_group(page, group, rulebook)
    _show_more(page, groups[MOST_GROUPS:])
    _show_last_words(page, result)
    _show_quiet(page, result)
    show_summary(page, result, groups)


def pretty_text(result: RunResult, rulebook: Rulebook) -> str:
    """The pretty report as text without colour, 80 columns wide: for files."""
    return _as_text(lambda console: render_pretty(result, rulebook, console))


def group_text(group: Group, rulebook: Rulebook) -> str:
    """One trouble as text without colour, as the pretty report shows it."""
    return _as_text(lambda console: show_group(Page(console), group, rulebook))


def summary_of(result: RunResult) -> str:
    """The counts in a line: ``22 passed, 2 failed, 1 warning, 3 not tested  in 3.1s``."""
    parts = [f"{n} {one if n == 1 else many}" for verdict, one, many in _COUNTED if (n := result.counts.get(verdict))]
    untested = sum(len(each.ids) for each in result.untested)
    if untested:
        parts.append(f"{untested} not tested")
    return f"{', '.join(parts) or 'nothing was tested'}  in {result.duration:.1f}s"


def next_command(result: RunResult, groups: tuple[Group, ...]) -> str:
    """What to type next: what the caller says, else what reproduces the first trouble, else its explanation."""
    if result.next_command or not groups:
        return result.next_command
    first = groups[0]
    return first.first.reproduce or (f"mlcheck explain {first.finding.rule}" if first.finding else "")


def _show_header(page: Page, result: RunResult) -> None:
    page.para(f"{result.tool.name} {result.tool.version}, {result.suite.name}, Storm {result.storm}", "bold")
    why = ", ".join(part for part in (result.component.kind, result.component.why) if part)
    page.line(" ".join(result.component.command) + (f"  ({why})" if why else ""), indent=2)
    for note in result.notes:
        page.para(note, label="Note:", label_style="yellow", indent=2, hang=8)


def _show_more(page: Page, groups: tuple[Group, ...]) -> None:
    if not groups:
        return
    page.blank()
    page.para("And more, in short:", "bold")
    for group in groups:
        what = group.finding.rule if group.finding else group.first.reason
        page.para(
            f"{what}: {some_of((subject.id for subject in group.subjects), 3)}", label=group.verdict, indent=2, hang=9
        )


def _show_last_words(page: Page, result: RunResult) -> None:
    if result.verdict == "no-first-message" and result.component.stderr_tail:
        page.blank()
        page.para("The component's last words on stderr:", "bold")
        page.lines(result.component.stderr_tail.splitlines()[-STDERR_LINES:], bar="| ")


def _show_quiet(page: Page, result: RunResult) -> None:
    passed = families(subject for subject in result.subjects if subject.verdict == "pass")
    known = [subject.id for subject in result.subjects if subject.verdict == "xfail"]
    if passed or known or result.untested:
        page.blank()
    if passed:
        text = ", ".join(f"{family} {count}" for family, count in passed.items())
        page.para(text, label="Passed", label_style="green", hang=12)
    if known:
        page.para(some_of(known), label="Known", hang=12)
    for number, untested in enumerate(result.untested):
        text = f"{untested.reason}: {some_of(untested.ids)}"
        page.para(text, label="" if number else "Not tested", label_style="yellow", hang=12)


def show_summary(page: Page, result: RunResult, groups: tuple[Group, ...]) -> None:
    """The counts, and what to type next: the most important lines come last."""
    page.blank()
    word = word_of(result)
    page.para(summary_of(result), label=word, label_style=_STYLES.get(result.exit_code, "bold red"), hang=len(word) + 2)
    if result.strict and result.exit_code == 1 and {group.verdict for group in groups} == {"warn"}:
        page.para("warnings count, as --strict asks", indent=len(word) + 2)
    command = next_command(result, groups)
    if command:
        page.line(f"Next: {command}")


def _as_text(show: Callable[[Console], None]) -> str:
    stream = io.StringIO()
    show(make_console(stream, "never", DEFAULT_WIDTH))
    return stream.getvalue()
