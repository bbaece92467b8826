"""Texts in which quotation marks and signs are escaped, as in a URL, in HTML or in JSON: what they say, and where."""

from __future__ import annotations

import html
import re
from bisect import bisect_right

_ESCAPED = re.compile(
    r"%(2[0-9a-f]|3[a-f]|40|5[b-d]|7[b-d])|&(quot|lt|gt|amp|apos|#3[49]|#x2[27]);|\\[ux](?:00)?(2[0-9a-f]|3[a-f])"
    r"|\\([\"'\\/nrt])",
    re.IGNORECASE,
)
_TELLING = re.compile(r"%3[ad]|%22|&(?:quot|lt|#3[49]|#x2[27]);|\\[ux](?:00)?(?:2[267]|3[ad])|\\[\"'n]", re.IGNORECASE)
"""One of these stands where a name and its value are escaped."""
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}


class Unescaped:
    """`said`: the text without its escapes."""

    def __init__(self, text: str) -> None:
        self._starts, self._lost = [0], [0]
        parts: list[str] = []
        done = size = 0
        for match in _ESCAPED.finditer(text):
            parts += [text[done : match.start()], _character(match)]
            size += match.start() - done + 1
            done = match.end()
            self._starts.append(size)
            self._lost.append(done - size)
        self.said = "".join([*parts, text[done:]])

    def place(self, at: int) -> int:
        """The place in the text of one in what it says."""
        return at + self._lost[bisect_right(self._starts, at) - 1]


def is_escaped(text: str) -> bool:
    """True if there may be a name and a value in a text that are escaped."""
    return _TELLING.search(text) is not None


def _character(match: re.Match[str]) -> str:
    if match[4]:
        return _CONTROL.get(match[4].lower(), match[4])
    return html.unescape(match[0].lower()) if match[2] else chr(int(match[1] or match[3], 16))
