"""One self-contained HTML file: the page kit, the document, and for those without scripts what matters most of it."""

from __future__ import annotations

import gzip
from base64 import b64encode
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.reports.escape import escape_html
from multilang_cli.reports.formats.registry import ReportError
from multilang_cli.reports.html.document import ConversationSection, FactsSection, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from multilang_cli.reports.html.document import PageDocument, PinnedFinding, Section

KIT = Path(__file__).parent / "kit"
"""Where the built kit lies (``page_kit/`` has its sources)."""
_LEVEL = 6
_DATA_TYPE = "application/octet-stream"
_SIDES = {"storm": "Storm: ", "component": "component: ", "process": ""}
MOST_FINDINGS = 100
"""Findings of one conversation that stand in the static part."""


class Kit(NamedTuple):
    """The script and the style of every page."""

    script: str
    style: str


class KitError(ReportError):
    """The page kit can't be used: a sentence."""


def load_kit(folder: Path = KIT) -> Kit:
    """The kit in `folder`. Raises KitError if it is not there, or can't stand inside a page."""
    try:
        kit = Kit(*((folder / name).read_bytes().decode() for name in ("page.js", "page.css")))
    except (OSError, UnicodeDecodeError) as error:
        raise KitError(f"the page kit can't be read: {error}") from None
    for text, end in ((kit.script, "</script"), (kit.style, "</style")):
        # A browser makes LF of CR before it takes the hash.
        if end in text.lower() or "<!--" in text or "\r" in text or "\0" in text:
            raise KitError(f"the page kit in {folder} can't stand inside a page: it has {end}, <!--, CR or NUL")
    return kit


def render(document: PageDocument, kit: Kit) -> str:
    """The page: pure, the same for the same document and kit."""
    title = escape_html(document.title)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{content_security_policy(kit)}">\n'
        f'<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{kit.style}</style>\n</head>\n<body>\n"
        f"{static_part(document)}"
        f'<script type="{_DATA_TYPE}" id="document">{packed(document)}</script>\n'
        f"<script>{kit.script}</script>\n</body>\n</html>\n"
    )


def content_security_policy(kit: Kit) -> str:
    """The page's policy on what it may load and run: its own script and style, by their hashes, and nothing else."""
    return (
        f"default-src 'none'; script-src {_hash(kit.script)}; style-src {_hash(kit.style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def packed(document: PageDocument) -> str:
    """The document as JSON, compressed, in base64."""
    return b64encode(gzip.compress(msgspec.json.encode(document), _LEVEL, mtime=0)).decode()


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


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
