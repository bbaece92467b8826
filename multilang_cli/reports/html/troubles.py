"""One trouble as a section of a page: what is wrong, what was expected and said, how to mend it, how to see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from multilang_cli.causes.model import Cause
from multilang_cli.reports.escape import fit
from multilang_cli.reports.failure import exit_in_words, stderr_lines
from multilang_cli.reports.formats.console import as_text
from multilang_cli.reports.grouping import some_of
from multilang_cli.reports.html.document import SequenceStep, Text
from multilang_cli.reports.message_words import in_short, leading_to, telling
from multilang_cli.reports.page import MOST_CELLS, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.grouping import Group
    from multilang_cli.reports.model import SubjectResult

_PAGE_COLUMNS = 110
_MOST_STEPS = 12
"""Messages of a sequence, at most."""
_NO_CAUSE = Cause(id="", certainty="certain", headline="")
_SIDES: dict[str, Literal["storm", "component"]] = {"in": "storm", "out": "component", "err": "component"}
_CASES_NAMED = 50


def trouble(group: Group, rulebook: Rulebook) -> Text:
    """All that is known of a trouble, by the first subject that has it."""
    what = group.finding.rule if group.finding else group.first.id
    more = f", in {len(group.subjects)} {group.first.kind}s" if len(group.subjects) > 1 else ""
    return Text(
        id="trouble",
        title=_line(f"{group.verdict.upper()} {what}{more}{group.only_on}", 100),
        note=_line(group.first.title),
        paragraphs=tuple(map(_line, _paragraphs(group, rulebook))),
        sequence=_sequence(group.first),
        code=as_text(lambda console: _shown(console, group, rulebook), _PAGE_COLUMNS).rstrip("\n"),
        command=_line(group.first.reproduce),
    )


def _sequence(subject: SubjectResult) -> tuple[SequenceStep, ...]:
    """The messages that led to a trouble, in short."""
    cause = subject.causes[0] if subject.causes else _NO_CAUSE
    return tuple(
        SequenceStep(
            seq=row.seq, side=_SIDES.get(row.channel, "process"), text=_line(in_short(row, cause)), mark=row.mark
        )
        for row in telling(leading_to(cause, subject), cause, _MOST_STEPS)
    )


def _paragraphs(group: Group, rulebook: Rulebook) -> Iterator[str]:
    for label, text in group.told(rulebook):
        if label != "Code":
            yield f"{label}: {text}" if label else text
    if len(group.subjects) > 1:
        yield f"The same in {some_of((each.id for each in group.subjects), _CASES_NAMED)}"


def _shown(console: Console, group: Group, rulebook: Rulebook) -> None:
    """Write the code that mends it, how the component ended, and its last words."""
    page, subject = Page(console), group.first
    if code := group.mend(rulebook)[1]:
        page.line("The mend in code:")
        page.lines(code.splitlines(), bar="  ")
    ended = exit_in_words(subject.exit)
    if ended:
        page.line(f"The component {ended}.")
    lines = stderr_lines(subject.stderr_tail)
    if lines:
        page.line("Its last words on stderr:")
        page.lines(lines, bar="| ")


def _line(text: str, most: int = MOST_CELLS) -> str:
    return fit(text.replace("\n", " "), most).text
