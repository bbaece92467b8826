"""RunResult as Markdown: a job's summary, a comment on a merge request, a page of a wiki.

Whatever a component may have written stands in code, where GitHub and GitLab make no markup, link, mention or reference
of it. Sentences of the catalogue are escaped too.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from multilang_cli.catalogue.written import clause_of
from multilang_cli.reports.bundles import (
    bundles,
    groups_in,
    known_failures_in,
    labelled,
    notes_in,
    rows_of,
    untested_in_all,
)
from multilang_cli.reports.combined import played_on, untested_in
from multilang_cli.reports.escape import escape_lines, fit
from multilang_cli.reports.failure import exit_in_words, show_excerpt, stderr_lines
from multilang_cli.reports.formats.console import COUNTED, as_text, next_command, summary_of
from multilang_cli.reports.grouping import note_lines, notes_of, some_of
from multilang_cli.reports.page import MOST_CELLS, Page
from multilang_cli.reports.verdict import precedence, word_of
from multilang_cli.reports.versions import lines_of
from multilang_cli.workflow import disarmed, in_workflow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.grouping import Group
    from multilang_cli.reports.model import RunResult, SubjectResult

MOST_BYTES = 1_000_000
"""No report is larger: GitHub takes 1 MiB for the summary of a step."""
_MARKDOWN_COLUMNS = 100
_LABEL_CELLS = 80
_MOST_LISTED = 50
_BACKTICKS = re.compile("`+")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#!|~&@$:]|^[-+=]|(?<=www)\.)", re.IGNORECASE)
_ORDINAL = re.compile(r"^(\d+)([.)])(?=\s|$)")
_REFERENCE = re.compile("([@#])")
_ZERO_WIDTH_SPACE = "\u200b"


def to_markdown(result: RunResult, rulebook: Rulebook) -> str:
    """The report; what does not fit into `MOST_BYTES` is left out, and a sentence says how much."""
    blocks = [*_head(result)]
    for bundle in bundles(result):
        if result.parts and bundle.label:
            word = word_of(min(bundle.parts, key=precedence))
            blocks.append(f"### {word}: {code(bundle.label, _LABEL_CELLS)}\n")
        blocks += _body(bundle.parts, rulebook)
    text = "\n".join(_within(blocks))
    # It may go to the log of a step.
    return disarmed(text) if in_workflow() else text


def code(text: str, cells: int = MOST_CELLS) -> str:
    """A text of any origin as a code span: one line, its characters as they are."""
    shown = fit(text, cells).text
    if not shown:
        return ""
    fence = _fence(shown, 1)
    apart = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{apart}{shown}{apart}{fence}"


def fenced(text: str, language: str = "text") -> str:
    """Lines of any origin as a block of code."""
    shown = escape_lines(text.rstrip("\n"))
    fence = _fence(shown, 3)
    return f"{fence}{language}\n{shown}\n{fence}\n"


def prose(text: str) -> str:
    """A sentence of a catalogue, shown as it is written: nothing in it is markup, a mention or a reference."""
    shown = _MARKUP.sub(r"\\\1", fit(text.strip().replace("\n", " "), MOST_CELLS).text)
    return _REFERENCE.sub(rf"\1{_ZERO_WIDTH_SPACE}", _ORDINAL.sub(r"\1\\\2", shown))


def _fence(shown: str, least: int) -> str:
    return "`" * max(least, 1 + max(map(len, _BACKTICKS.findall(shown)), default=0))


def _head(result: RunResult) -> Iterator[str]:
    yield f"## {word_of(result)}: {summary_of(result)}\n"
    storms = prose(played_on((result,)))
    yield f"{result.tool.name} {prose(result.tool.version)}, {prose(result.suite.name)}{storms}\n"
    yield _table(result)
    for sentence in result.sentences:
        yield f"**Storm:** {prose(sentence)}\n"
    command = next_command(result)
    if command:
        yield f"Next:\n\n{fenced(command, 'sh')}"


def _table(result: RunResult) -> str:
    """A line a component and Storm version, a column for each verdict that occurs."""
    columns = [(verdict, many) for verdict, _, many in COUNTED if result.counts.get(verdict)]
    rows = [["component", "verdict", *(many for _, many in columns), "not tested"]]
    rows.append(["---", "---", *["--:"] * (len(columns) + 1)])
    for label, part in labelled(result):
        counts = [str(part.counts.get(verdict, 0)) for verdict, _ in columns]
        word = word_of(part) + ("" if part.gates else " (does not count)")
        rows.append([_cell(label), word, *counts, str(untested_in(part))])
    return table(rows)


def _cell(text: str) -> str:
    # A bar would end the cell, even in code.
    return code(text.replace("|", "\\x7c"), _LABEL_CELLS)


def table(rows: Iterable[list[str]]) -> str:
    """A table of cells that are Markdown."""
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _versions(parts: Sequence[RunResult]) -> Iterator[str]:
    """A line a case that differs among the versions or is no pass, a column a version."""
    lines = [[_cell(id_), *cells] for id_, *cells in lines_of(rows_of(parts))]
    if lines and len(parts) > 1:
        yield table([["case", *(prose(part.storm) for part in parts)], ["---"] * (len(parts) + 1), *lines])


def _body(parts: Sequence[RunResult], rulebook: Rulebook) -> Iterator[str]:
    """One component, on one Storm version or several."""
    if said := notes_in(parts):
        yield _listed(map(code, said))
    yield from _versions(parts)
    for number, group in enumerate(groups_in(parts)):
        yield _trouble(group, rulebook, opened=not number)
    if parts[-1].verdict == "no-first-message" and parts[-1].component.stderr_tail:
        yield f"The component's last words on stderr:\n\n{_last_words(parts[-1].component.stderr_tail)}"
    notes = note_lines(notes_of(*parts))
    if notes:
        yield f"**Notes**\n\n{_listed(map(code, notes))}"
    known = [f"{code(each.id)} {code(each.reason)}" for each in known_failures_in(parts)]
    if known:
        yield f"**Known failures**\n\n{_listed(known)}"
    if untested := untested_in_all(parts):
        lines = [f"{code(each.reason)}: {code(some_of(each.ids, _MOST_LISTED))}" for each in untested]
        yield f"**Not tested**\n\n{_listed(lines)}"


def _trouble(group: Group, rulebook: Rulebook, *, opened: bool) -> str:
    """All that is known of one trouble, folded unless `opened`."""
    what = f": {_html(group.finding.rule)}" if group.finding else ""
    title = f"<b>{group.verdict.upper()}</b> {_html(group.first.id)}{group.more}{what}{html.escape(group.only_on)}"
    blocks = "\n".join(_details(group, rulebook))
    return f"<details{' open' if opened else ''}><summary>{title}</summary>\n\n{blocks}\n</details>\n"


def _reasons(group: Group) -> Iterator[str]:
    """Lines on why it went wrong, the cause first."""
    yield f"{prose(group.first.title)}\n"
    if group.cause:
        yield f"**Cause:** {code(group.cause)}\n"
    if group.reason:
        yield f"**{group.label}:** {code(group.reason)}\n"
    if group.beside:
        yield f"{code(group.beside)}\n"
    if group.expected:
        yield f"**Expected:** {code(group.expected)}\n"


def _details(group: Group, rulebook: Rulebook) -> Iterator[str]:
    subject = group.first
    yield from _reasons(group)
    if known := group.clause(rulebook):
        clause = clause_of(known)
        yield f"**Clause:** “{prose(clause.text)}” ({prose(clause.source)})\n"
    yield from _said(subject)
    if group.fates:
        lines = [f"{', '.join(each.versions)}: {code(each.text)}" for each in group.fates]
        yield f"**Storm**\n\n{_listed(lines)}"
    mend, line = group.mend(rulebook)
    if mend:
        yield f"**Mend:** {prose(mend)}\n"
    if line:
        yield fenced(line)
    if len(group.subjects) > 1:
        ids = some_of((each.id for each in group.subjects[1:]), _MOST_LISTED)
        yield f"**The same in** {code(ids)}\n"
    if subject.transcript:
        yield f"**Record:** {code(subject.transcript)}\n"
    if subject.reproduce:
        yield f"**Again:**\n\n{fenced(subject.reproduce, 'sh')}"


def _said(subject: SubjectResult) -> Iterator[str]:
    """The messages that matter, and how the component ended."""
    if subject.excerpt:
        yield fenced(as_text(lambda console: show_excerpt(Page(console), subject.excerpt), _MARKDOWN_COLUMNS))
    ended = exit_in_words(subject.exit)
    if ended:
        yield f"The component {ended}.\n"
    if subject.stderr_tail:
        yield f"Its last words on stderr:\n\n{_last_words(subject.stderr_tail)}"


def _last_words(text: str) -> str:
    lines = stderr_lines(text)
    return fenced(as_text(lambda console: Page(console).lines(lines, indent=0), _MARKDOWN_COLUMNS))


def _listed(lines: Iterable[str]) -> str:
    shown = list(lines)
    rest = shown[_MOST_LISTED:]
    more = [f"and {len(rest)} more"] if rest else []
    return "".join(f"- {line}\n" for line in (*shown[:_MOST_LISTED], *more))


def _html(text: str) -> str:
    return f"<code>{html.escape(fit(text, _MARKDOWN_COLUMNS).text)}</code>"


def _within(blocks: list[str]) -> list[str]:
    """The first blocks, as many as fit."""
    room = MOST_BYTES
    for number, block in enumerate(blocks):
        room -= len(block.encode("utf-8", "backslashreplace")) + 1
        if room < _MARKDOWN_COLUMNS * 4:
            left = len(blocks) - number
            cut = f"**Cut here:** {left} more sections do not fit; they are in the other formats of the report.\n"
            return [*blocks[:number], cut]
    return blocks
