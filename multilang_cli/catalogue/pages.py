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
"""Weight of a word in the title and in a heading; one in the text counts once."""


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
    """Pages that have all words, whatever their case, the best first."""
    wanted = words.lower().split()
    found = [match for page in pages.values() if (match := _match(page, wanted)).weight]
    return sorted(found, key=lambda match: -match.weight)


def _match(page: DocsPage, wanted: list[str]) -> PageMatch:
    text = page.text.lower()
    if not wanted or not all(word in text or word in page.name for word in wanted):
        return PageMatch(page, 0, ())
    headings = tuple(each for each in _HEADING.findall(page.text)[1:] if any(word in each.lower() for word in wanted))
    named = sum(word in page.title.lower() or word in page.name.split("/")[-1] for word in wanted)
    named += len(wanted) * ("-".join(wanted) in page.name)
    weight = _TITLE * named + _IN_HEADING * len(headings) + sum(text.count(word) for word in wanted)
    return PageMatch(page, weight, headings)


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
