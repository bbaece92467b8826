"""The line of a source that wrote some text: the only one that has its words between quotes. Pure."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from multilang_cli.causes.model import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|`((?:[^`\\]|\\.)*)`')
_BARE = re.compile(r"^\s*echo\s+(?![\"'])(?:-\w+\s+)*([^|&;>]+)")
"""What a shell writes need not be quoted."""
_FILLED_IN = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|[#$]?\{[^{}]*\}|\$\w+|\\.")
"""What a format, an interpolation or an escape stands for is not in the text as it is written."""
COMMENT = re.compile(r"\s*(?:#(?!!)|//|--|\*)")
_SHORTEST = 4
"""Characters of a piece, at least, that is no chance."""
_LEAST_IN_COMMON = 6
"""Characters of a line, at least, that are found in the text."""
_CALL = 4
"""Lines behind the first on which a call may go on."""
_LOGGERS = re.compile(
    r"^.{0,60}?\b(?:TRACE|DEBUG|FINE|INFO|WARN(?:ING)?|ERROR|SEVERE|CRITICAL|FATAL)\b\]?(?:\s+[\w.$/\[\]-]+){0,3}\s*[:-]?\s+"
)
"""What a logger writes before a text: when, a level, and who."""
_LONGEST_HEAD = 400
"""Characters in which that is looked for."""
_SHARE_OF_TEXT = 3
"""One in so many characters of the text, at least, are the line's, where the text doesn't begin with them."""


def origin_of(text: str, sources: Mapping[str, Sequence[str]]) -> Place | None:
    """Find the line of the `sources`, lines by file, that `text` came from; None if it is none or more than one.

    Lines are held against it by the pieces of their quoted strings that stand in it; where several have some, it is
    the one that has more of it than all others.
    """
    scores = sorted(_scores(text, sources), key=lambda each: -each[0])
    if not scores or scores[0][0] < _LEAST_IN_COMMON or (len(scores) > 1 and scores[1][0] == scores[0][0]):
        return None
    _, file, number, line = scores[0]
    return Place(file, number, line.strip())


def is_of(text: str, sources: Mapping[str, Sequence[str]]) -> bool:
    """True if some line of the `sources` may have written `text`."""
    return any(score >= _LEAST_IN_COMMON for score, *_ in _scores(text, sources))


def only_line(pattern: str, sources: Mapping[str, Sequence[str]]) -> Place | None:
    """The only line of the `sources` that matches from its beginning; None if none does or several do.

    The pattern sees the lines behind it too: a call may go on there.
    """
    begins = re.compile(pattern)
    return _only(lambda lines: 0 if begins.match("\n".join(lines)) else None, sources)


def only_line_with(pattern: str, sources: Mapping[str, Sequence[str]]) -> Place | None:
    """The only line of the `sources` in which the pattern is found; None if it is in none or in several.

    What is found may go on in the lines behind it.
    """
    wanted = re.compile(pattern, re.MULTILINE)

    def beginning(lines: Sequence[str]) -> int | None:
        """The column of what is found, if it begins in the first of the lines."""
        found = wanted.search("\n".join(lines))
        return found.start() if found is not None and found.start() <= len(lines[0]) else None

    return _only(beginning, sources)


def _only(column: Callable[[Sequence[str]], int | None], sources: Mapping[str, Sequence[str]]) -> Place | None:
    """The only line in which there is a `column` of what is looked for; the place has it as its mark."""
    found = [
        (file, number, line, at)
        for file, lines in sources.items()
        for number, line in enumerate(lines, 1)
        if line.strip() and not COMMENT.match(line) and (at := column(lines[number - 1 : number + _CALL])) is not None
    ]
    if len(found) != 1:
        return None
    [(file, number, line, at)] = found
    at = max(at - (len(line) - len(line.lstrip())), 0)
    return Place(file, number, line.strip(), " " * at + "^" if at else "")


def _scores(text: str, sources: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, str, int, str]]:
    texts = {text, _LOGGERS.sub("", text[:_LONGEST_HEAD], count=1) + text[_LONGEST_HEAD:]}
    for file, lines in sources.items():
        # What runs a program tells its name as well.
        name = posixpath.splitext(posixpath.basename(file))[0]
        for number, line in enumerate(lines, 1):
            if not COMMENT.match(line) and (score := max(_score(each, line, name) for each in texts)):
                yield score, file, number, line


def _score(text: str, line: str, name: str) -> int:
    """Characters of `text` that the strings of a line account for; 0 if they may stand there by chance."""
    found = [piece for piece in _pieces(line) if piece in text and piece != name]
    score = sum(map(len, found))
    begins = any(text.lstrip().startswith(piece) for piece in found)
    return score if begins or score * _SHARE_OF_TEXT >= len(text) else 0


def _pieces(line: str) -> Iterable[str]:
    strings = [next(filter(None, found.groups()), "") for found in _QUOTED.finditer(line)]
    bare = _BARE.match(line)
    strings += [bare[1]] if bare else []
    pieces = (piece.strip() for string in strings for piece in _FILLED_IN.split(string))
    return (piece for piece in pieces if len(piece) >= _SHORTEST)
