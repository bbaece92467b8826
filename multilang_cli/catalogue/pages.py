"""The pages of the docs, as they come with the package: found by name or by words, and made plain for a terminal."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.catalogue.locate import data_path

if TYPE_CHECKING:
    from pathlib import Path

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n\n?", re.MULTILINE)
_PAGE_LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)*([\w/-]+)\.md(?:#[\w-]*)?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_TITLE, _IN_HEADING = 50, 10
"""Weight of a word in the title, or of all in one heading, and of a word in a heading."""
_LENGTH = 4_000
"""Characters of text in which a word counts once: a long page that has it often says little of it."""
_RECORDS = re.compile(r"hunt|matrix/|libraries|features|threat-model|performance")
"""Begins the name of a page that tells of what was done once, or of everything: behind those that lead."""


class DocsPage(NamedTuple):
    """A page: its name, such as ``tutorials/bolt``, its title and its Markdown."""

    name: str
    title: str
    text: str


class PageMatch(NamedTuple):
    """A page in which all words were found, how well, and the headings that have one of them."""

    page: DocsPage
    weight: int
    headings: tuple[str, ...]


def load_pages() -> dict[str, DocsPage]:
    """Every page by its name, the start page first."""
    found = {}
    for name, path in _paths().items():
        text = path.read_text(encoding="utf-8")
        found[name] = DocsPage(name, _HEADING.findall(text)[0], text)
    return found


def search_pages(words: str, pages: dict[str, DocsPage]) -> list[PageMatch]:
    """Pages that have all words, whatever their case, the best first, those that lead before records."""
    wanted = words.lower().split()
    found = [match for page in pages.values() if (match := _match(page, wanted)).weight]
    return sorted(found, key=lambda match: (_is_record(match, wanted), -match.weight))


def _is_record(match: PageMatch, wanted: list[str]) -> bool:
    """Tell a record that nobody asked for by its name."""
    name = match.page.name
    return bool(_RECORDS.match(name)) and not any(word in name for word in wanted)


def _match(page: DocsPage, wanted: list[str]) -> PageMatch:
    """The weight of a page, 0 where a word is missing; one is looked for where a word begins."""
    patterns = [re.compile(rf"(?<![^\W_]){re.escape(word)}") for word in wanted]
    text, phrase = page.text.lower(), " ".join(wanted)
    if not wanted or not all(pattern.search(text) or pattern.search(page.name) for pattern in patterns):
        return PageMatch(page, 0, ())
    titles = [each for each in _HEADING.findall(page.text) if any(pattern.search(each.lower()) for pattern in patterns)]
    headings = tuple(each for each in titles if each != page.title)
    name = page.name.split("/")[-1]
    named = sum(bool(pattern.search(page.title.lower()) or pattern.search(name)) for pattern in patterns)
    named += len(wanted) * ("-".join(wanted) in page.name) + any(phrase in each.lower() for each in titles)
    often = sum(len(pattern.findall(text)) for pattern in patterns) * _LENGTH // len(text)
    return PageMatch(page, _TITLE * named + _IN_HEADING * len(headings) + often + 1, headings)


def for_terminal(page: DocsPage) -> str:
    """The Markdown of a page, where links to pages are commands that show them, and pictures are left out."""
    text = _PICTURE.sub("", _COMMENT.sub("", page.text))
    return _PAGE_LINK.sub(lambda link: _command(link[1], link[2]), text)


def _command(text: str, path: str) -> str:
    if path.startswith("reference/"):
        return text
    known = _paths()
    name = next((each for each in known if path in {each, each.rpartition("/")[2]}), "")
    return f"{text} (`mlcheck docs {name}`)" if name else text


@cache
def _paths() -> dict[str, Path]:
    """Every page by its name, the start page first, the contract of testees last."""
    home = data_path("docs")
    paths = sorted(home.rglob("*.md"), key=lambda path: (path.name != "index.md", path))
    found = {path.relative_to(home).with_suffix("").as_posix(): path for path in paths}
    return {**found, "testees": data_path("conformance", "testees", "README.md")}
