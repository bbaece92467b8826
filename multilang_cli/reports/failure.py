"""One trouble on a page: the clause, the messages that matter, what Storm would do, how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.catalogue.loader import load_tracebacks
from multilang_cli.catalogue.written import quoted
from multilang_cli.causes.tracebacks import shown_lines
from multilang_cli.reports.escape import chunks, width
from multilang_cli.reports.grouping import some_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Clause
    from multilang_cli.reports.grouping import FateGroup, Group
    from multilang_cli.reports.model import ExcerptLine, Exit, SubjectResult
    from multilang_cli.reports.page import Page

MOST_LINES = 4
"""Lines that one message may take; longer ones are cut in the middle."""
_RECOGNISED = 40
"""Characters of an exception by which its line is found again: long ones are shown cut."""


def show_group(page: Page, group: Group, rulebook: Rulebook) -> None:
    """Show what the subjects of a group have in common, by the first of them. Warnings are shown in short."""
    subject = group.first
    style = "bold yellow" if group.verdict == "warn" else "bold red"
    page.para(f"{subject.id}  {subject.title}", "bold", label=group.verdict.upper(), label_style=style)
    if len(group.subjects) > 1:
        rest = some_of(other.id for other in group.subjects[1:])
        # A task that dies has a further life, which is a subject of its own.
        what = "processes" if subject.kind == "task" else f"{subject.kind}s"
        page.para(f"the same in {len(group.subjects)} {what}: also {rest}", indent=2)
    if group.storms:
        page.para(f"on Storm {', '.join(group.storms)} only", indent=2)
    if group.cause:
        page.para(group.cause, "bold", label="Cause", indent=2, hang=12)
    _show_reason(page, group)
    show_clause(page, group.clause(rulebook))
    if group.verdict != "warn":
        show_excerpt(page, subject.excerpt)
        show_end(page, subject)
    show_fates(page, group.fates)
    _show_way_out(page, group, rulebook)


def show_clause(page: Page, clause: Clause | str | None) -> None:
    """The sentence of the protocol, and where it stands."""
    if clause is not None:
        page.para(quoted(clause), label="Clause", indent=2, hang=12)


def show_excerpt(page: Page, excerpt: Iterable[ExcerptLine]) -> None:
    """Messages, one a line, the wrong one marked; a pointer under the first wrong byte where it is known."""
    rows = list(excerpt)
    if not rows:
        return
    page.para("What was said (in: Storm to the component, out: the component to Storm)", "bold", indent=2)
    channels = max(len(row.channel) for row in rows)
    for row in rows:
        lead = f"{'-->' if row.mark else '':3} {row.seq:>5} {row.t:>8.3f}s {row.channel:{channels}}  "
        cells = page.columns - len(lead)
        shown = page.fit(row.text, cells * MOST_LINES, row.at)
        _show_message(page, row, lead, chunks(shown.text, cells), shown.column)


def show_fates(page: Page, fates: Iterable[FateGroup]) -> None:
    """Show what each Storm version does, versions with the same fate together."""
    page.listed((f"{', '.join(group.versions)}: {group.text}" for group in fates), "Storm", indent=2, hang=12)


def _show_reason(page: Page, group: Group) -> None:
    finding, reason = group.finding, group.reason
    if reason:
        page.para(f"{finding.rule}: {reason}" if finding else reason, label=group.label, indent=2, hang=12)
    if group.beside:
        page.para(group.beside, indent=12)
    if group.expected:
        page.para(group.expected, label="Expected", indent=2, hang=12)
    others = {other.rule: other.message for other in group.first.findings if finding and other.rule != finding.rule}
    for rule, message in others.items():
        page.para(f"{rule}: {message}", label="Also", indent=2, hang=12)


def _show_message(page: Page, row: ExcerptLine, lead: str, lines: list[str], column: int | None) -> None:
    note = row.note
    for number, line in enumerate(lines):
        page.line((" " * len(lead) if number else lead) + line, "bold red" if row.mark else "")
        last = number == len(lines) - 1
        if column is not None and (column < width(line) or last):
            pointer = " " * (len(lead) + column) + "^"
            beside = width(pointer) + 1 + width(note) <= page.columns
            page.line(f"{pointer} {note}" if note and beside else pointer)
            note, column = "" if beside else note, None
        elif column is not None:
            column -= width(line)
    if note:
        page.para(note, "italic", indent=len(lead))


def show_end(page: Page, subject: SubjectResult) -> None:
    """Show the component's end, and what it said last."""
    ended = exit_in_words(subject.exit)
    if ended:
        page.para(f"the component {ended}", label="Exit", indent=2, hang=12)
    lines = stderr_lines(subject.stderr_tail)
    if lines:
        page.para("Its last words on stderr", "bold", indent=2)
        page.lines(lines, indent=2, bar="| ")


def stderr_lines(text: str) -> list[str]:
    """Lines of stderr that are shown: all, or its head and what belongs to the last exception."""
    return shown_lines(text, load_tracebacks().death_in(text)) if text.strip() else []


def last_stderr_lines(lines: list[str], count: int) -> list[str]:
    """The last lines of stderr, the first of them the exception that those behind it belong to, if there is one.

    Runtimes that write the innermost frame first have the exception before all frames.
    """
    last = lines[-count:] if count else []
    death = load_tracebacks().death_in("\n".join(lines)) if len(lines) > count > 1 else None
    if death is None or any(death.text[:_RECOGNISED] in line for line in last):
        return last
    told = [line for line in lines[death.at :] if death.text[:_RECOGNISED] in line]
    return [*told[:1], *last[len(told[:1]) :]]


def _show_way_out(page: Page, group: Group, rulebook: Rulebook) -> None:
    subject = group.first
    mend, code = group.mend(rulebook)
    if mend:
        page.para(mend, label="Mend", label_style="bold green", indent=2, hang=12)
    for line in code.splitlines():
        page.line(line, "bold", indent=12)
    if group.explained:
        page.line(f"More:     mlcheck explain {group.explained}", indent=2)
    if subject.transcript:
        page.line(f"Record:   {subject.transcript}", indent=2)
    if subject.reproduce:
        page.line(f"Again:    {subject.reproduce}", indent=2)


def exit_in_words(ended: Exit | None) -> str:
    """The end of a process, for people; empty if it did not."""
    if ended is None:
        return ""
    return f"was ended by signal {ended.signal}" if ended.signal is not None else f"exited with code {ended.code}"
