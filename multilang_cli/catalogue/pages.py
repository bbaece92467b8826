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
_RECORDS = re.compile(r"hunt|matrix/|libraries|features|threat-model|performance|protocol/(?:cases|fates)")
"""Begins the name of a page that tells of what was done once, or of everything: behind those that lead."""
_FILLERS = re.compile(
    r"(?:an?|and|are|as|at|but|by|can|do|does|for|from|has|have|how|if?|in|is|its?|me|my|of|on|or|says?|so|that|the|there"
    r"|they|this|to|was|we|what|when|where|which|who|why|will|with|your?)\W*"
)
"""Words that say nothing of what is looked for."""
_PLURAL = 5
"""Letters of a word whose last s is no part of what is looked for; nor is the d of one that ends in ied."""


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


def page_named(name: str, pages: dict[str, DocsPage]) -> DocsPage | None:
    """The page of a name, the first page of a folder, or the page in a folder that alone has this name."""
    alike = [page for full, page in pages.items() if full.rpartition("/")[2] == name]
    return pages.get(name) or pages.get(f"{name}/index") or (alike[0] if len(alike) == 1 else None)


def search_pages(words: str, pages: dict[str, DocsPage]) -> list[PageMatch]:
    """Pages that have all words, whatever their case, the best first, those that lead before records."""
    wanted = words.lower().split()
    found = [match for page in pages.values() if (match := _match(page, wanted)).weight]
    return sorted(found, key=lambda match: (_is_record(match, wanted), -match.weight))


def search_nearly(words: str, pages: dict[str, DocsPage]) -> list[PageMatch]:
    """Pages that have the most of the words, at least half of them, the best first."""
    patterns = _patterns(words.lower().split())
    had = {
        name: sum(bool(pattern.search(page.text.lower()) or pattern.search(name)) for pattern in patterns)
        for name, page in pages.items()
    }
    most = max(had.values(), default=0)
    if not most or 2 * most < len(patterns):
        return []
    best = [page for name, page in pages.items() if had[name] == most]
    found = [_match(page, [word for word in words.lower().split() if _has(page, word)]) for page in best]
    return sorted(found, key=lambda match: (_is_record(match, []), -match.weight))


def _has(page: DocsPage, word: str) -> bool:
    return any(pattern.search(page.text.lower()) or pattern.search(page.name) for pattern in _patterns([word]))


def _patterns(wanted: list[str]) -> list[re.Pattern[str]]:
    """Patterns of the words, each where a word begins, without those that say nothing, unless there are no others."""
    telling = [word for word in wanted if not _FILLERS.fullmatch(word)] or wanted
    stems = [
        word[:-1] if (len(word) >= _PLURAL and word.endswith("s")) or word.endswith("ied") else word for word in telling
    ]
    return [re.compile(rf"(?<![^\W_]){re.escape(stem)}") for stem in stems]


def _is_record(match: PageMatch, wanted: list[str]) -> bool:
    """Tell a record that nobody asked for by its name."""
    name = match.page.name
    return bool(_RECORDS.match(name)) and not any(word in name for word in wanted)


def _match(page: DocsPage, wanted: list[str]) -> PageMatch:
    """The weight of a page, 0 where a word is missing."""
    patterns = _patterns(wanted)
    text, phrase = page.text.lower(), " ".join(wanted)
    if not wanted or not all(pattern.search(text) or pattern.search(page.name) for pattern in patterns):
        return PageMatch(page, 0, ())
    titles = [each for each in _HEADING.findall(page.text) if any(pattern.search(each.lower()) for pattern in patterns)]
    headings = tuple(each for each in titles if each != page.title)
    name = page.name.split("/")[-1]
    named = sum(bool(pattern.search(page.title.lower()) or pattern.search(name)) for pattern in patterns)
    named += len(patterns) * ("-".join(wanted) in page.name) + any(phrase in each.lower() for each in titles)
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
