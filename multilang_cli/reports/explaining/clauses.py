"""Clauses for people: quoted as they stand, and in English where the source is Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.catalogue.loader import load_english

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Clause


def quoted(clause: Clause) -> str:
    """A clause, and where it stands."""
    return f'"{clause.text.strip()}" ({clause.source})'


def in_english(clause: Clause) -> str:
    """The clause in English, a line of its own; "" where it is in English already."""
    english = load_english().get(clause.text.strip())
    return f"In English: {english}" if english else ""
