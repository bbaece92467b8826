"""Texts that a component was sent, by which they are known again in what it says. Pure."""

from __future__ import annotations

import re
from collections import deque
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

from multilang_cli.protocol.words.large import strings_of

if TYPE_CHECKING:
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.messages import Emit, Handshake, TupleMsg

_ECHO = 60
"""Bytes of the handshake by which it is known when it comes back."""
_MOST_KEYS = 1000
_LONGEST_KEY = 200
"""Characters of a key that may be another misspelt."""
_LIKE = 0.85
"""The part of two keys that is the same where one may be the other misspelt."""
_TEXTS, _PIECE, _OF_A_TEXT = 64, 3, 1000
"""Texts of tuples that are kept, characters of a piece of one that is no chance, and of a text that are kept."""

_FRAME_END = re.compile(r"\nend\s*$", re.IGNORECASE | re.MULTILINE)


class SentTexts:
    """The texts in its handshake and its tuples. `escaped`: a tuple had a backslash. `echoed`: it wrote the handshake.

    `greeted`: the event of that. `framed`: an emit has a message as Storm sends it, and its `end`.
    """

    def __init__(self) -> None:
        self.escaped = self.echoed = self.framed = False
        self.greeted: int | None = None
        self._handshake = b""
        self._conf_keys: list[str] = []
        self._texts: deque[str] = deque(maxlen=_TEXTS)
        self._ids: deque[str] = deque(maxlen=_TEXTS)

    def greet(self, event: Event, message: Handshake) -> None:
        """Take the handshake."""
        self._conf_keys = [key for key in islice(message.conf, _MOST_KEYS) if len(key) <= _LONGEST_KEY]
        self._handshake, self.greeted = event.raw[:_ECHO], event.seq

    def feed(self, event: Event, message: TupleMsg, *, own: bool) -> None:
        """Take a tuple. `own`: it is none of Storm's."""
        self.escaped = self.escaped or (own and b"\\" in event.raw)
        self._ids.append(message.id)
        self._texts.extend(value[-_OF_A_TEXT:] for value in strings_of(message.values))

    def wrote(self, event: Event) -> None:
        """Take what it wrote to stdout."""
        self.echoed = self.echoed or (bool(self._handshake) and event.raw.startswith(self._handshake))

    def emitted(self, message: Emit) -> None:
        """Take an emit: who lets a program read its stdin, and sends on what that writes, sends messages of Storm's."""
        self.framed = self.framed or any(
            _FRAME_END.search(text) and any(f'"{id_}"' in text for id_ in self._ids)
            for text in strings_of(message.values)
        )

    def has(self, words: str) -> bool:
        """True if a text among the values of a tuple has these words."""
        return len(words) >= _PIECE and any(words in text for text in self._texts)

    def key_like(self, wanted: str) -> str:
        """A key of conf that `wanted` may be misspelt; "" if there is none, or `wanted` itself."""
        close = get_close_matches(wanted[:_LONGEST_KEY], self._conf_keys, n=1, cutoff=_LIKE)
        return close[0] if close and close[0] != wanted else ""
