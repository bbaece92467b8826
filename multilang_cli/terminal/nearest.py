"""The end of a sentence about a name that does not exist: the one that was perhaps meant."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_LISTED = 15
_LONGEST_NEAR = 200


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """``; did you mean X?``, else `otherwise`, else ``; known are X, Y.`` where few are known, else ``.``."""
    names = list(known)
    near = get_close_matches(name[:_LONGEST_NEAR], names, n=1)
    if near:
        return f"; did you mean {near[0]}?"
    if otherwise is not None:
        return otherwise
    return f"; known are {', '.join(names)}." if 0 < len(names) <= _LONGEST_LISTED else "."
