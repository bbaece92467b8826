"""Pages of the docs: listed, found by a word, shown; with what ``mlcheck explain`` has of that word."""

from __future__ import annotations

import re
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.catalogue.loader import load_causes, load_rules
from multilang_cli.catalogue.pages import DocsPage, for_terminal, load_pages, page_named, search_nearly, search_pages
from multilang_cli.catalogue.written import PAGES_BESIDE, TITLE, load_chapters, load_sentences
from multilang_cli.subject.outputs import console_of, write_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import stdout_may_close, write
from multilang_cli.terminal.table import in_columns, screen_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.catalogue.pages import PageMatch

PROTOCOL = "protocol"
"""The folder of the pages that are made from ``conformance/protocol``."""

ALONE = frozenset({"errata", "broken-storm"})
"""Pages of it that are found without the folder: nothing else has their names."""

PAGES_NAMED = 8
"""Pages that a search names."""

EXPLAINED_NAMED = 6
"""Sentences of the protocol, rules, causes and cases that it names."""

TITLE_WIDTH = 64
"""Characters of each that are shown: with what stands before them, no more than the 80 of a terminal."""

_ANCHOR = re.compile(r'<a id="[^"]*"></a>')
_PAGE_LINK = re.compile(r"\[([^\[\]]+)\]\(([\w-]+)\.md\)")
_SENTENCE_LINK = re.compile(r"\[([^\[\]]+)\]\([\w-]+\.md#[^)]+\)")


class Explainable(NamedTuple):
    """A thing that ``mlcheck explain`` tells of, by its name: its sort, and its title or its sentence."""

    about: str
    name: str
    title: str


class DocsFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck docs``."""

    words: tuple[str, ...] = ()
    as_json: bool = False
    color: str | None = None


def docs_given(flags: DocsFlags) -> int:
    """Show the page that the words name, or those that have them; returns the exit code. Raises CommandError."""
    pages, wanted, as_json = load_pages(), " ".join(flags.words), flags.as_json
    if not wanted:
        listed = [_named(page) for page in pages.values()] + _chapters()
        write_json(listed) if as_json else _list(listed)
        return ExitCode.CONFORMANT
    page = page_named(wanted, pages) or _protocol_page(wanted)
    all_pages = pages if page else pages | _protocol_pages()
    found = [] if page else search_pages(wanted, all_pages)
    explained = [] if page else _explainable(wanted)
    if not (page or found or explained):
        found = search_nearly(wanted, all_pages) if len(flags.words) > 1 or " " in wanted else []
        if found and not as_json:
            write("No page has all of these words; those that have the most:\n")
    if len(found) > 1 or explained:
        facts = [{"about": "page", **_named(each.page), "headings": each.headings} for each in found]
        write_json([*facts, *(each._asdict() for each in explained)]) if as_json else _show_matches(found, explained)
        return ExitCode.CONFORMANT
    if page is None and not found:
        raise CommandError(f"docs: no page has {wanted[:60]!r}{did_you_mean(wanted, pages)} `mlcheck docs` lists all.")
    page = page or found[0].page
    if as_json:
        write_json({**_named(page), "text": page.text})
    else:
        _show(page, flags.color)
    return ExitCode.CONFORMANT


def _protocol_page(wanted: str) -> DocsPage | None:
    """A page of the written protocol: its contents, or ``protocol/`` and a page, or that alone where no other has it.

    Made when it is asked for.
    """
    if wanted in ALONE:
        wanted = f"{PROTOCOL}/{wanted}"
    elif wanted.partition("/")[0] != PROTOCOL:
        return None
    return _protocol_pages().get(wanted.rstrip("/"))


def _protocol_pages() -> dict[str, DocsPage]:
    """Every page of the written protocol by its name."""
    from multilang_cli.reports.explaining.protocol_pages import pages  # noqa: PLC0415 (slow to make)

    found = {}
    for file, text in pages().items():
        name = PROTOCOL if file == "index.md" else f"{PROTOCOL}/{file.removesuffix('.md')}"
        found[name] = DocsPage(name, text.partition("\n")[0].removeprefix("# "), _without_anchors(text))
    return found


def _without_anchors(text: str) -> str:
    """A page of the protocol for a terminal: links to pages are commands, those to sentences and rules their names."""
    text = _PAGE_LINK.sub(rf"\1 (`mlcheck docs {PROTOCOL}/\2`)", _ANCHOR.sub("", text))
    return _SENTENCE_LINK.sub(r"\1", text)


def _explainable(words: str) -> list[Explainable]:
    """All that ``mlcheck explain`` tells of and that has the words, in its name first."""
    wanted = words.casefold().split()
    begins = [re.compile(rf"(?<![^\W_]){re.escape(word)}") for word in wanted]
    found = [each for each in _known() if all(it.search(f"{each.name} {each.title}".casefold()) for it in begins)]
    return sorted(found, key=lambda each: not all(word in each.name for word in wanted))


def _known() -> Iterator[Explainable]:
    from multilang_cli.suite.cases.case import load_cases  # noqa: PLC0415 (slow to import)

    for name, placed in load_sentences().items():
        yield Explainable("sentence", name, " ".join(placed.sentence.text.split()))
    for rule in load_rules().values():
        yield Explainable("rule", rule.id, rule.title)
    for cause in load_causes():
        yield Explainable("cause", cause.id, cause.title)
    for case in (*load_cases(), *load_cases("library")):
        yield Explainable("case", case.id, case.title)


def _named(page: DocsPage) -> dict[str, str]:
    return {"name": page.name, "title": page.title}


def _chapters() -> list[dict[str, str]]:
    titles = {**{chapter.id: chapter.title for chapter in load_chapters()}, **PAGES_BESIDE}
    found = [{"name": f"{PROTOCOL}/{name}", "title": title} for name, title in titles.items()]
    return [{"name": PROTOCOL, "title": f"{TITLE}: its chapters"}, *found]


def _list(pages: list[dict[str, str]]) -> None:
    lines = in_columns(((page["name"], page["title"]) for page in pages), screen_width())
    write(f"{lines}\nmlcheck docs NAME shows a page, mlcheck docs WORD finds those that have a word.\n")


def _show_matches(found: list[PageMatch], explained: list[Explainable]) -> None:
    for match in found[:PAGES_NAMED]:
        write(f"mlcheck docs {match.page.name}\n    {match.page.title}\n")
        for heading in match.headings[:3]:
            write(f"    - {heading}\n")
    if len(found) > PAGES_NAMED:
        write(f"and {len(found) - PAGES_NAMED} more pages; add a word\n")
    for each in explained[:EXPLAINED_NAMED]:
        write(
            f"mlcheck explain {each.name}\n    {each.about}: {shorten(each.title, TITLE_WIDTH, placeholder=' ...')}\n"
        )
    if len(explained) > EXPLAINED_NAMED:
        write(f"and {len(explained) - EXPLAINED_NAMED} more to explain\n")


def _show(page: DocsPage, color: str | None) -> None:
    """Show a page: laid out on a terminal, as plain Markdown elsewhere."""
    console = console_of(color)
    text = for_terminal(page)
    if not console.is_terminal:
        write(text)
        return
    from rich.markdown import Markdown  # noqa: PLC0415 (slow to import)

    with stdout_may_close():
        console.print(Markdown(text), width=min(console.width, 100))
