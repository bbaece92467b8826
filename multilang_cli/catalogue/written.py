"""The written protocol (``conformance/protocol``): chapters of sentences with stable ids, the clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from multilang_cli.catalogue import locate
from multilang_cli.catalogue.loader import CatalogueError, read_as
from multilang_cli.catalogue.once import once
from multilang_cli.protocol.words.verdicts import Clause

if TYPE_CHECKING:
    from pathlib import Path

TITLE = "Multilang protocol"
BESIDE = frozenset({"errata", "broken"})
"""Files of the folder that are no chapters."""
PAGES_BESIDE = {
    "fates": "Fates: what each Storm does about each breach",
    "cases": "Cases: how the sentences are tried",
    "errata": "Errata of Storm's page about the protocol",
    "broken-storm": "Broken in Storm",
}
"""Titles of the pages that are made beside those of the chapters, by name."""


class Quotation(msgspec.Struct, frozen=True):
    """A sentence of the protocol page in its own words, and the heading that it stands under."""

    at: str
    text: str


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the protocol.

    `level`: as in RFC 2119; a fact asks for nothing. `binds`: whose duty it is. `since`, `until`: the first Storm
    version that it holds for, and the first that it does not. `rules` judge it, `cases` try it. `untestable`: why
    neither does. `unconfirmed`: why nothing shows that real Storm has it so.
    `page`, `storm`, `contract`, `issues`: its sources, which are the protocol page, Storm's code, the contract of
    testees and the issues of Storm. `shown_by`: scripts of the oracle in which Storm does as the sentence says.
    `tests`: tests of ours that show it, as ``file::function``; those of ``tests/storm`` on a real Storm.
    """

    id: str
    level: Literal["must", "should", "may", "fact"]
    text: str
    binds: Literal["component", "host", "library"] = "component"
    since: str = ""
    until: str = ""
    rules: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    untestable: str = ""
    unconfirmed: str = ""
    shown_by: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    page: tuple[Quotation, ...] = ()
    storm: tuple[str, ...] = ()
    contract: str = ""
    issues: tuple[str, ...] = ()


class VersionTable(msgspec.Struct, frozen=True):
    """Cells of text below the names of their columns; the first of a row names it."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class ChapterSection(msgspec.Struct, frozen=True, kw_only=True):
    """A numbered section of a chapter: sentences, a table, or both; `example`: messages or pseudo-code that show it."""

    title: str
    about: str = ""
    example: str = ""
    sentences: tuple[Sentence, ...] = ()
    table: VersionTable | None = None


class Chapter(msgspec.Struct, frozen=True, kw_only=True):
    """A chapter of the protocol, whose number does not change; `about` opens it."""

    id: str
    number: int
    title: str
    about: str
    sections: tuple[ChapterSection, ...]


class Placed(msgspec.Struct, frozen=True):
    """A sentence and where it stands: chapter and section numbers, such as 5.3."""

    sentence: Sentence
    chapter: Chapter
    number: str


class Erratum(msgspec.Struct, frozen=True, kw_only=True):
    """One mistake of Storm's page about the protocol, or a silence, and the sentences that have it right.

    `at`: the heading. `says`: what the page says, "" where it is silent. `but`: what is so.
    """

    id: str
    kind: Literal["wrong", "out of date", "silent"]
    but: str
    sentences: tuple[str, ...]
    at: str = ""
    says: str = ""


class BrokenStorm(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that Storm has wrong, so that no component can do it right.

    `frames`: the smallest conversation that shows it. `until_then`: what a component can do. `scripts` of the oracle
    show it, where one can. `report`: for Storm's tracker.
    """

    id: str
    title: str
    versions: str
    effect: str
    frames: str
    until_then: str
    sentences: tuple[str, ...]
    report: str
    scripts: tuple[str, ...] = ()


@once
def load_chapters() -> tuple[Chapter, ...]:
    """The chapters by number. Raises CatalogueError."""
    folder = locate.data_path("conformance", "protocol")
    files = [path for path in sorted(folder.glob("*.yaml")) if path.stem not in BESIDE]
    chapters = (read_as(path, "protocol", Chapter) for path in files)
    return tuple(sorted(chapters, key=lambda chapter: chapter.number))


@once
def load_sentences() -> dict[str, Placed]:
    """The sentences by id, in the order of the document: not to be changed. Raises CatalogueError."""
    return {
        sentence.id: Placed(sentence, chapter, f"{chapter.number}.{number}")
        for chapter in load_chapters()
        for number, section in enumerate(chapter.sections, 1)
        for sentence in section.sentences
    }


def clause_of(clause: Clause | str) -> Clause:
    """The clause of a rule or case: quoted in it, or named by the id of its sentence. Raises CatalogueError."""
    if isinstance(clause, Clause):
        return clause
    placed = load_sentences().get(clause)
    if placed is None:
        raise CatalogueError(f"there is no sentence {clause!r} in conformance/protocol")
    return Clause(placed.sentence.text.strip(), f"{TITLE} {placed.number}, {clause}")


def quoted(clause: Clause | str) -> str:
    """A clause for people, and where it stands. Raises CatalogueError."""
    found = clause_of(clause)
    return f'"{found.text.strip()}" ({found.source})'


@once
def cases_by_rule() -> dict[str, tuple[str, ...]]:
    """The cases that try what a rule is about, by the rule: not to be changed. Raises CatalogueError."""
    found: dict[str, tuple[str, ...]] = {}
    for placed in load_sentences().values():
        for rule in placed.sentence.rules:
            found[rule] = tuple(dict.fromkeys((*found.get(rule, ()), *placed.sentence.cases)))
    return found


@once
def load_errata() -> tuple[Erratum, ...]:
    """The errata of Storm's page about the protocol. Raises CatalogueError."""
    return read_as(_file("errata"), "protocol-errata", tuple[Erratum, ...])


@once
def load_broken() -> tuple[BrokenStorm, ...]:
    """The defects of Storm itself. Raises CatalogueError."""
    return read_as(_file("broken"), "protocol-broken", tuple[BrokenStorm, ...])


def _file(name: str) -> Path:
    return locate.data_path("conformance", "protocol", f"{name}.yaml")
