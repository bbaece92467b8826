"""The page without its script: title, facts and findings, as plain escaped HTML. The script replaces it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from multilang_cli.reports.escape import escape_html
from multilang_cli.reports.html.document import ConversationSection, FactsSection, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from multilang_cli.reports.html.document import PageDocument, PinnedFinding, Section

_SIDES = {"storm": "Storm: ", "component": "component: ", "process": ""}
MOST_FINDINGS = 100
"""Findings of one conversation that stand in the static part."""


def static_part(document: PageDocument) -> str:
    """The element that the script takes away once it shows the document itself."""
    return "".join(f"{line}\n" for line in ("<main>", *_head(document), *_sections(document), "</main>"))


def _head(document: PageDocument) -> Iterator[str]:
    yield _element("h1", document.title)
    if document.verdict is not None:
        yield f"<p><strong>{escape_html(document.verdict.text)}</strong></p>"
    yield _element("p", document.subtitle)
    yield _element("p", "This page needs JavaScript to show conversations and plots; here is its summary.")


def _sections(document: PageDocument) -> Iterator[str]:
    for section in document.sections:
        shown = list(_shown(section))
        if shown:
            yield _element("h2", section.title)
            if section.note:
                yield _element("p", section.note)
            yield from shown


def _shown(section: Section) -> Iterator[str]:
    if isinstance(section, FactsSection):
        rows = (f"<dt>{escape_html(name)}</dt><dd>{escape_html(value)}</dd>" for name, value in section.rows)
        yield f"<dl>{''.join(rows)}</dl>"
    elif isinstance(section, Text):
        yield from (_element("p", paragraph) for paragraph in section.paragraphs)
        if section.sequence:
            steps = ("".join((_SIDES[each.side], each.text)) for each in section.sequence)
            yield f"<ol>{''.join(_element('li', step) for step in steps)}</ol>"
        if section.command:
            yield _element("p", f"Again: {section.command}")
        if section.code:
            yield _element("pre", section.code)
    elif isinstance(section, ConversationSection):
        yield f"<ol>{''.join(_findings(section.findings))}</ol>"


def _findings(findings: Iterable[PinnedFinding]) -> Iterator[str]:
    rest = iter(findings)
    shown = list(islice(rest, MOST_FINDINGS))
    for finding in shown:
        where = "" if finding.seq is None else f"event {finding.seq}: "
        yield _element("li", f"{finding.level} {finding.rule}: {where}{finding.message}")
    more = sum(1 for _ in rest)
    if more or not shown:
        yield _element("li", f"and {more} more" if more else "nothing found")


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape_html(text)}</{name}>"
