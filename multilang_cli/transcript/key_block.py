"""A private key in a text that comes in parts: its lines are told by the mark that begins it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from multilang_cli.transcript.secrets import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN = re.compile(rb"-----BEGIN (?:[A-Z0-9]+ ){0,5}PRIVATE KEY(?: BLOCK)?-----[ \t]*(?:\r?\n|\\n|$)")
_LINES = re.compile(rb"(?:[ \t]*+(?:[A-Za-z0-9+/=\\]++|[A-Z][A-Za-z\-]{2,20}: [^\r\n]*+)?[ \t]*+(?:\r?\n|$))*+")
"""Lines of a key; whatever else there is ends it, so that a complaint that quotes the mark hides nothing."""
_LONGEST_MARK = 100


class KeyBlock:
    """Remembers whether a text is amid a private key."""

    def __init__(self) -> None:
        self._inside = False
        self._tail = b""

    def places(self, part: bytes) -> Iterator[tuple[int, int]]:
        """The places of a key in the next part of the text."""
        text, known = self._tail + part, len(self._tail)
        at = known if self._inside else 0
        while True:
            if not self._inside:
                found = _BEGIN.search(text, at)
                if found is None:
                    break
                self._inside, at = True, found.end()
            lines = _LINES.match(text, at)
            end = lines.end() if lines else at
            hidden = max(at, known), max(at, known) + len(text[max(at, known) : end].rstrip())
            if hidden[1] > hidden[0]:
                yield hidden[0] - known, hidden[1] - known
            at = end
            if end == len(text):
                break
            self._inside = False
        self._tail = b"" if self._inside else text[max(at, len(text) - _LONGEST_MARK) :]

    def line(self, said: str) -> str:
        """The next line of the text, without what of a key is in it."""
        raw = said.encode("utf-8", "surrogatepass") + b"\n"
        shown, done = b"", 0
        for begin, end in self.places(raw):
            shown += raw[done:begin] + HIDDEN.encode()
            done = end
        return (shown + raw[done:-1]).decode("utf-8", "surrogatepass") if done else said
