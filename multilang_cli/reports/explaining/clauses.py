"""Clauses for people: the sentence, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.catalogue.written import clause_of

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Clause


def quoted(clause: Clause | str) -> str:
    """A clause, and where it stands."""
    found = clause_of(clause)
    return f'"{found.text.strip()}" ({found.source})'
