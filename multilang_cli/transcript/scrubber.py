"""The secrets of one conversation that are known, and what hides them in bytes, texts and values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.words.shortening import CUT
from multilang_cli.transcript.given import BY_PATTERN, GIVEN
from multilang_cli.transcript.joined import LONGEST_LINE
from multilang_cli.transcript.secrets import HIDDEN, Found, hide, texts_of
from multilang_cli.transcript.spellings import pattern_of, spellings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.transcript.joined import ChunkedText

_HIDDEN, _CUT = HIDDEN.encode(), CUT.encode()
_PIECE_OF_SECRET = 3
"""Bytes of a secret's piece beside a cut from which on it is hidden."""
_CUTS = re.compile(rb"(?=(%b))" % re.escape(_CUT))


class SecretScrubber:
    """Hides secrets that are known, in each spelling, and what the user's patterns match.

    Methods add the names of what they hid to `keys`. `patterns`: the user's. `longest`: bytes of the longest secret.
    """

    def __init__(self) -> None:
        self._needles: dict[bytes, str] = {}
        self._pattern: re.Pattern[bytes] | None = None
        self.patterns = GIVEN.patterns
        self._in_lines = False
        self._all = b""
        self.longest = 0

    def __bool__(self) -> bool:
        return bool(self._needles or self.patterns)

    def misses(self, data: bytes) -> bool:
        """True if nothing that is known stands in `data`, and nothing has to be looked for by a pattern."""
        return not self.patterns and (self._pattern is None or self._pattern.search(data) is None)

    def learn(self, found: Found) -> bool:
        """Hide these, too; True if that is more than was known."""
        known = len(self._needles)
        for key, values in found.items():
            for value in values:
                for text in texts_of(value):
                    self._needles |= dict.fromkeys(spellings(text), key)
        if len(self._needles) == known:
            return False
        self._pattern = pattern_of(self._needles)
        self.longest = max(map(len, self._needles))
        self._all = b"\n".join(self._needles)
        self._in_lines = any(b"\n" in needle for needle in self._needles)
        return True

    def may_go_on(self, piece: bytes) -> bool:
        """True if `piece` may be a part of a secret that what stood before it has begun."""
        return 0 < len(piece) < self.longest and piece in self._all

    def told(self, raw: bytes, keys: set[str]) -> bytes:
        """Hide secrets, and what looks like one, in what a component wrote that is no message."""
        clean = self.scrub(raw, keys)
        text = clean.decode("utf-8", "surrogateescape")
        shown = hide(text, "text", lambda key, _: keys.add(key or "err"))
        shown = self.by_pattern(shown, keys)
        return clean if shown == text else shown.encode("utf-8", "surrogateescape")

    def chunk(self, raw: bytes, joined: ChunkedText, keys: set[str]) -> bytes:
        """A chunk of the text `joined` without secrets, nor a piece of one that other chunks hold as well."""
        shown, done = b"", 0
        for begin, end in sorted(self._parted(raw, joined, keys)):
            if end > done:
                shown += self.told(raw[done:begin], keys) if begin > done else b""
                shown += b"" if shown.endswith(_HIDDEN) else _HIDDEN
                done = end
        joined.take(raw, max(self.longest, LONGEST_LINE))
        return shown + self.told(raw[done:], keys)

    def _parted(self, raw: bytes, joined: ChunkedText, keys: set[str]) -> Iterator[tuple[int, int]]:
        """The places in a chunk of secrets that begin before it, or that it ends within."""
        before = joined.end
        for begin, end in joined.key.places(raw):
            keys.add("err")
            yield begin, end
        for begin, end, key in joined.shapes(raw, self.patterns):
            keys.add(key)
            yield begin, end
        if self._pattern is None:
            return
        if self._in_lines or not before.endswith(b"\n"):
            for match in self._pattern.finditer(before + raw[: self.longest]):
                if match.start() < len(before) < match.end():
                    keys.add(self._needles[match[0]])
                    yield 0, match.end() - len(before)
        if (self._in_lines or not raw.endswith(b"\n")) and (size := self.begun((before + raw)[-self.longest :], keys)):
            yield max(0, len(raw) - size), len(raw)

    def begun(self, text: bytes, keys: set[str]) -> int:
        """The size of the longest piece of a secret at the end of a text; 0 if there is none."""
        size, key = max(((_ending(text, needle), key) for needle, key in self._needles.items()), default=(0, ""))
        keys |= {key} if size else set()
        return size

    def clean(self, value: Any, keys: set[str]) -> Any:
        """A value of JSON without the secrets known so far."""
        if isinstance(value, str):
            clean = self.scrub(value.encode("utf-8", "surrogatepass"), keys).decode("utf-8", "surrogatepass")
            return self.by_pattern(clean, keys)
        if isinstance(value, dict):
            return {self.clean(key, keys): self.clean(item, keys) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean(item, keys) for item in value]
        if isinstance(value, int) and not isinstance(value, bool):
            key = self._needles.get(str(value).encode())
            if self.patterns and any(pattern.fullmatch(str(value)) for pattern in self.patterns):
                key = BY_PATTERN
            keys |= {key} if key else set()
            return HIDDEN if key else value
        return value

    def scrub(self, text: bytes, keys: set[str]) -> bytes:
        """`text` without the secrets that are known."""
        if self._pattern is None or self._pattern.search(text) is None:
            return text
        keys |= {self._needles[match[0]] for match in self._pattern.finditer(text)}
        return self._pattern.sub(_HIDDEN, text)

    def by_pattern(self, text: str, keys: set[str]) -> str:
        """`text` without what the user's patterns match."""
        for pattern in self.patterns:
            if pattern.search(text):
                text = pattern.sub(_without_group, text)
                keys.add(BY_PATTERN)
        return text

    def without_pieces(self, clean: bytes) -> bytes:
        """`clean` without what is left of a secret where something was left out."""
        if not self._needles or _CUT not in clean:
            return clean
        shown, done = [], 0
        for begin, end in sorted(self._pieces(clean)):
            if end > done:
                shown += [clean[done:begin], _HIDDEN]
                done = end
        return b"".join(shown) + clean[done:]

    def _pieces(self, text: bytes) -> Iterator[tuple[int, int]]:
        """The places of pieces of secrets beside cuts. A dot before a cut makes it a run of dots, and two cuts."""
        longest = self.longest
        for cut in _CUTS.finditer(text):
            before, after = text[max(0, cut.start() - longest) : cut.start()], text[cut.end(1) : cut.end(1) + longest]
            if size := max(_ending(before, needle) for needle in self._needles):
                yield cut.start() - size, cut.start()
            if size := max(_beginning(after, needle) for needle in self._needles):
                yield cut.end(1), cut.end(1) + size


def _without_group(match: re.Match[str]) -> str:
    """Hide what a pattern of the user's matched: all of it, or its first group, if it has one."""
    if not match.re.groups or match[1] is None:
        return HIDDEN
    begin, end = match.start(1) - match.start(), match.end(1) - match.start()
    return match[0][:begin] + HIDDEN + match[0][end:]


def _beginning(text: bytes, secret: bytes) -> int:
    """The number of bytes at the beginning of a text that are the end of a secret; 0 for few, which tell nothing."""
    at = text.rfind(secret[-_PIECE_OF_SECRET:], 0, len(secret))
    while at >= 0:
        if secret.endswith(text[: at + _PIECE_OF_SECRET]):
            return at + _PIECE_OF_SECRET
        at = text.rfind(secret[-_PIECE_OF_SECRET:], 0, at + _PIECE_OF_SECRET - 1)
    return 0


def _ending(text: bytes, secret: bytes) -> int:
    """The number of bytes at the end of a text that are the beginning of a secret; 0 for few."""
    at = text.find(secret[:_PIECE_OF_SECRET], max(0, len(text) - len(secret)))
    while at >= 0:
        if secret.startswith(text[at:]):
            return len(text) - at
        at = text.find(secret[:_PIECE_OF_SECRET], at + 1)
    return 0
