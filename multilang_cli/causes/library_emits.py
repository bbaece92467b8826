"""The line that calls a library's emit: which of several it was, its stream and the number of its values tell. Pure."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from multilang_cli.causes.callers import name_in
from multilang_cli.causes.model import Place
from multilang_cli.causes.origin import COMMENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from multilang_cli.protocol.words.messages import Emit

MOST_LINES = 30
"""Lines of one call that are read."""
_EMITS = re.compile(
    r"(?<![\w\"'`-])(?:\w+(?:\.|->|::))*emit(?:[A-Z_]\w*)?!?\s*[\[({]|^\s*emit\w*\s+[\[\w]", re.IGNORECASE
)
_OF_AN_EVENT = re.compile(r"emit\s*\(\s*[\"'`]", re.IGNORECASE)
"""A call that emits an event of its runtime's, such as those of Node, which begin with the event's name."""
_NAMES_A_STREAM = re.compile(r"\bstream(?:_?id)?\b\W{0,4}(?:=>?|:)", re.IGNORECASE)
_OPENS_A_LIST = re.compile(r".*?emit\w*!?\s*\(?\s*(?:\{\s*)?(?:q|\w+)?\s*(?:=>?|:)?\s*\[", re.IGNORECASE | re.DOTALL)
_SPREADS = re.compile(r"(?:^|,)\s*(?:\*|\.\.\.|@)|\.\.\.|\bfor\b|^\s*[@%]")
"""Values of which the number is not told by their commas."""
_NAME = re.compile(r"\w+")
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")


def emitter_of(emit: Emit, sources: Mapping[str, Sequence[str]], language: str) -> Place | None:
    """The only line that may have made this emit; None if several may."""
    own = {name for lines in sources.values() for line in lines if (name := name_in(line))}
    calls = [
        (Place(file, number + 1, line.strip()), _statement(lines, number))
        for file, lines in sources.items()
        for number, line in enumerate(lines)
        if _is_call(line, language, own)
    ]
    stream = str(emit.stream or "default")
    naming = [each for each in calls if re.search(rf"""["'`:]{re.escape(stream)}(?![\w-])""", each[1])]
    if stream == "default":
        naming = naming or [each for each in calls if not _NAMES_A_STREAM.search(each[1])]
    found = [place for place, call in naming if _count(call) in {None, len(emit.values or ())}]
    return found[0] if len(found) == 1 else None


def _is_call(line: str, language: str, own: set[str]) -> bool:
    """True of a line that has a library emit; `own`: names of functions of the component, which are none of that."""
    found = _EMITS.search(line)
    if found is None or COMMENT.match(line) or name_in(line) or not own.isdisjoint(_NAME.findall(found[0])):
        return False
    return not (language == "javascript" and _OF_AN_EVENT.search(line))


def _statement(lines: Sequence[str], at: int) -> str:
    """The call that begins in a line, up to where its brackets are closed."""
    text, begin = "", _EMITS.search(lines[at])
    for line in islice(lines, at, at + MOST_LINES):
        text += line[begin.start() :] if begin else line
        begin = None
        bare = _QUOTED.sub("", text)
        if sum(map(bare.count, "[({")) <= sum(map(bare.count, "])}")):
            break
        text += "\n"
    return text


def _count(call: str) -> int | None:
    """The number of values a call's list has; None if the list stands elsewhere, or its length can't be told."""
    bare = _QUOTED.sub("q", call)
    begin = _OPENS_A_LIST.match(bare)
    if begin is None:
        return None
    depth, commas, inner = 1, 0, bare[begin.end() :]
    for at, letter in enumerate(inner):
        depth += (letter in "[({") - (letter in "])}")
        commas += letter == "," and depth == 1
        if depth == 0:
            items = inner[:at].strip()
            return None if _SPREADS.search(items) else commas + (items[-1:] not in {"", ","})
    return None
