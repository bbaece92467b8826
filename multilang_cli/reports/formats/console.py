"""The pretty report: what broke and how to mend it, for a tired person. Import it lazily: it needs rich."""

from __future__ import annotations

import io
from collections import Counter
from typing import TYPE_CHECKING

from multilang_cli.reports.bundles import (
    bundles,
    groups_in,
    known_failures_in,
    labelled,
    notes_in,
    passed_in_all,
    untested_in_all,
)
from multilang_cli.reports.combined import played_on, untested_in
from multilang_cli.reports.coverage import coverage_in_words
from multilang_cli.reports.escape import width
from multilang_cli.reports.failure import show_group, stderr_lines
from multilang_cli.reports.grouping import Group, families, groups_of, note_lines, notes_of, some_of
from multilang_cli.reports.page import DEFAULT_WIDTH, Page, make_console
from multilang_cli.reports.verdict import FAILURES, precedence, word_of
from multilang_cli.reports.versions import show_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult, Verdict

MOST_GROUPS = 5
"""Groups shown in full; the others get a line each."""

WARNED = "bold yellow"
_STYLES = {0: "bold green", 6: WARNED}
COUNTED: tuple[tuple[Verdict, str, str], ...] = (
    ("pass", "passed", "passed"),
    ("fail", "failed", "failed"),
    ("stale", "stale", "stale"),
    ("flaky", "flaky", "flaky"),
    ("error", "error of mlcheck", "errors of mlcheck"),
    ("warn", "warning", "warnings"),
    ("xfail", "known failure", "known failures"),
)
"""The verdicts that a summary counts, with the word for one and for many."""
_SWALLOWED = 2
"""If known failures are one of so many tested, or more, the verdict's line says so."""
_OF_THE_WHOLE: Mapping[Verdict, str] = {"fail": "failed", "warn": "is a warning", "untestable": "not judged"}
"""The words for what a run as a whole comes to."""


def render_pretty(result: RunResult, rulebook: Rulebook, console: Console) -> None:
    """Show a run: what was run, what broke, what was not tested, and last the summary and the next command.

    Of several components, each is shown so, then all together; of several versions of one, a table and what differs.
    """
    page = Page(console)
    if not result.parts:
        show_run(page, (result,), rulebook)
        return
    for bundle in bundles(result):
        show_run(page, bundle.parts, rulebook)
        page.blank()
        page.line("-" * page.columns, "dim")
    show_together(page, result)


def pretty_text(result: RunResult, rulebook: Rulebook) -> str:
    """The pretty report as text without colour, 80 columns wide: for files."""
    return as_text(lambda console: render_pretty(result, rulebook, console))


def group_text(group: Group, rulebook: Rulebook) -> str:
    """One trouble as text without colour, as the pretty report shows it."""
    return as_text(lambda console: show_group(Page(console), group, rulebook))


def summary_of(result: RunResult) -> str:
    """The counts in a line: ``22 passed, 2 failed, 1 warning, 3 not tested  in 3.1s``, and whether it counts.

    What is judged of a run as a whole is no case: it is told by its name.
    """
    whole = [each for each in result.subjects if each.kind == "run" and each.verdict in _OF_THE_WHOLE]
    if len(whole) == len(result.subjects):
        whole = []
    beside = Counter(each.verdict for each in whole)
    of_cases = {verdict: number - beside[verdict] for verdict, number in result.counts.items()}
    shown = [f"{n} {one if n == 1 else many}" for verdict, one, many in COUNTED if (n := of_cases.get(verdict))]
    tested = sum(of_cases.get(verdict, 0) for verdict, *_ in COUNTED)
    if 0 < tested <= _SWALLOWED * of_cases.get("xfail", 0):
        # A green line must not hide that hardly anything is left to go red.
        shown[-1] += f" (of {tested} tested)"
    untested = untested_in(result) - beside["untestable"]
    if untested:
        shown.append(f"{untested} not tested")
    shown += [f"{each.id} {_OF_THE_WHOLE[each.verdict]}" for each in whole]
    if result.profile is not None and result.profile.kind == "bolt" and result.profile.settles == "unchecked":
        shown.append("settling not tested")
    counts = "" if result.gates else " (it does not count)"
    took = f"  in {result.duration:.1f}s" if result.duration else ""
    extent = f"; {result.extent}" if result.extent else ""
    return f"{', '.join(shown) or 'nothing was tested'}{took}{extent}{counts}"


def next_command(result: RunResult) -> str:
    """The command to type next: what the caller says, else what reproduces the first trouble, else its explanation."""
    if result.parts:
        parts = sorted(result.parts, key=lambda part: (not part.gates, precedence(part)))
        return next(filter(None, map(next_command, parts)), "")
    groups = groups_of(result)
    if result.next_command or not groups:
        return result.next_command
    first = groups[0]
    return first.first.reproduce or (f"mlcheck explain {first.explained}" if first.explained else "")


def show_run(page: Page, parts: Sequence[RunResult], rulebook: Rulebook) -> None:
    """Show one component: on one Storm version all there is to say, on several all but the sum.

    `show_together` comes after several.
    """
    show_header(page, parts)
    if len(parts) > 1:
        show_table(page, parts)
    groups = groups_in(parts)
    for group in groups[:MOST_GROUPS]:
        page.blank()
        show_group(page, group, rulebook)
    _show_more(page, groups[MOST_GROUPS:])
    _show_last_words(page, parts[-1])
    _show_quiet(page, parts)
    if len(parts) == 1:
        show_summary(page, parts[0])


def show_header(page: Page, parts: Sequence[RunResult]) -> None:
    """Show what was run, on which Storm versions, and the notes on it."""
    result = parts[-1]
    page.para(f"{result.tool.name} {result.tool.version}, {result.suite.name}{played_on(parts)}", "bold")
    why = ", ".join(part for part in (result.component.kind, result.component.why) if part)
    name = f"{result.component.name}: " if result.component.name else ""
    page.para(name + " ".join(result.component.command) + (f"  ({why})" if why else ""), indent=2)
    for note in notes_in(parts):
        page.para(note, label="Note:", label_style="yellow", indent=2, hang=8)


def _show_more(page: Page, groups: tuple[Group, ...]) -> None:
    if not groups:
        return
    page.blank()
    page.para("And more, in short:", "bold")
    for group in groups:
        what = group.finding.rule if group.finding else group.first.reason
        page.para(
            f"{what}: {some_of((subject.id for subject in group.subjects), 3)}{group.only_on}",
            label=group.verdict,
            indent=2,
            hang=9,
        )


def _show_last_words(page: Page, result: RunResult) -> None:
    if result.verdict == "no-first-message" and result.component.stderr_tail:
        page.blank()
        page.para("The component's last words on stderr:", "bold")
        page.lines(stderr_lines(result.component.stderr_tail), bar="| ")


def _show_quiet(page: Page, parts: Sequence[RunResult]) -> None:
    passed = families(passed_in_all(parts))
    known = [subject.id for subject in known_failures_in(parts)]
    notes, untested = notes_of(*parts), untested_in_all(parts)
    if passed or known or notes or untested or parts[-1].emits:
        page.blank()
    if passed:
        text = ", ".join(f"{family} {count}" for family, count in passed.items())
        page.para(text, label="Passed", label_style="green", hang=12)
    page.listed(note_lines(notes), "Notes", hang=12)
    if known:
        page.para(some_of(known), label="Known failures", hang=12)
    lines = (f"{each.reason}: {some_of(each.ids)}" for each in untested)
    page.listed(lines, "Not tested", label_style="yellow", hang=12)
    page.listed(parts[-1].emits, "Emits", hang=12)
    for coverage in parts[-1].coverage:
        page.para(coverage_in_words(coverage), label="Exercised", hang=12)


def show_together(page: Page, result: RunResult) -> None:
    """Show only what comes last of several components: a line each, the summary and the next command."""
    page.para(f"Together, {_counted(result)}", "bold")
    words = [word_of(part) for part in result.parts]
    labels = [page.fit(label, page.columns // 2).text for label, _ in labelled(result)]
    wide = max(map(len, words)), max(map(width, labels))
    for part, word, label in zip(result.parts, words, labels, strict=True):
        lead = f"{word:{wide[0]}}  {label}{' ' * (wide[1] - width(label))}"
        page.para(summary_of(part), label=lead, label_style=style_of(part), indent=2, hang=len(lead) + 4)
    show_summary(page, result)


def _counted(result: RunResult) -> str:
    """The parts that there are several of: ``2 components``, ``5 Storm versions``, or both."""
    each = bundles(result)
    storms = dict.fromkeys(storm for bundle in each for storm in bundle.storms)
    counts = [f"{len(each)} components"] if len(each) > 1 or len(storms) == 1 else []
    return ", ".join([*counts, *([f"{len(storms)} Storm versions"] if len(storms) > 1 else [])])


def show_summary(page: Page, result: RunResult) -> None:
    """The counts, and what to type next: the most important lines come last."""
    page.blank()
    word = word_of(result)
    page.para(summary_of(result), label=word, label_style=style_of(result), hang=len(word) + 2)
    if result.strict and result.exit_code == 1 and not any(result.counts.get(verdict) for verdict in FAILURES):
        page.para("warnings count, as --strict asks", indent=len(word) + 2)
    for sentence in result.sentences:
        page.para(sentence, label="Storm:", hang=len("Storm: "))
    command = next_command(result)
    if command:
        page.line(f"Next: {command}")


def style_of(result: RunResult) -> str:
    """The style of a result's verdict."""
    return _STYLES.get(result.exit_code, "bold red")


def as_text(show: Callable[[Console], None], columns: int = DEFAULT_WIDTH) -> str:
    """Text that `show` prints, without colour."""
    stream = io.StringIO()
    show(make_console(stream, "never", columns))
    return stream.getvalue()
