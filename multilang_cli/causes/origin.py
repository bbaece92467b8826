"""The line of a source that wrote some text: the only one that has its words between quotes. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from multilang_cli.causes.model import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|`((?:[^`\\]|\\.)*)`')
_BARE = re.compile(r"^\s*echo\s+(?![\"'])(?:-\w+\s+)*([^|&;>]+)")
"""What a shell writes need not be quoted."""
_FILLED_IN = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|[#$]?\{[^{}]*\}|\$\w+|\\.")
"""What a format, an interpolation or an escape stands for is not in the text as it is written."""
_COMMENT = re.compile(r"\s*(?:#|//|--|\*)")
_SHORTEST = 4
"""Characters of a piece, at least, that is no chance."""
_ENOUGH = 6
"""Characters of a line, at least, that are found in the text."""


def origin_of(text: str, sources: Mapping[str, Sequence[str]]) -> Place | None:
    """Find the line of the `sources`, lines by file, that `text` came from; None if it is none or more than one.

    Lines are held against it by the pieces of their quoted strings that stand in it; where several have some, it is
    the one that has more of it than all others.
    """
    scores = sorted(_scores(text, sources), key=lambda each: -each[0])
    if not scores or scores[0][0] < _ENOUGH or (len(scores) > 1 and scores[1][0] == scores[0][0]):
        return None
    _, file, number, line = scores[0]
    return Place(file, number, line.strip())


def _scores(text: str, sources: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, str, int, str]]:
    for file, lines in sources.items():
        for number, line in enumerate(lines, 1):
            if not _COMMENT.match(line) and (score := sum(len(piece) for piece in _pieces(line) if piece in text)):
                yield score, file, number, line


def _pieces(line: str) -> Iterable[str]:
    strings = [next(filter(None, found.groups()), "") for found in _QUOTED.finditer(line)]
    bare = _BARE.match(line)
    strings += [bare[1]] if bare else []
    pieces = (piece.strip() for string in strings for piece in _FILLED_IN.split(string))
    return (piece for piece in pieces if len(piece) >= _SHORTEST)
