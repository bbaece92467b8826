"""A text that comes in chunks, parted anywhere: what is secret by its shape is seen in the line as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.transcript.given import BY_PATTERN
from multilang_cli.transcript.key_block import KeyBlock
from multilang_cli.transcript.secrets import hide

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

LONGEST_LINE = 1024
"""Bytes of the line so far in which it is looked for what gives a secret away."""


class ChunkedText:
    """Remembers what came last of such a text, as it was written. `end`: its last bytes. `key`: a private key in it."""

    def __init__(self) -> None:
        self.end = b""
        self.key = KeyBlock()

    def take(self, chunk: bytes, kept: int) -> None:
        """Go on behind a chunk. `kept`: bytes that are remembered."""
        self.end = (self.end + chunk[-kept:])[-kept:]

    def shapes(self, chunk: bytes, patterns: Sequence[re.Pattern[str]]) -> Iterator[tuple[int, int, str]]:
        """Places in a chunk at which its line holds what looks like a secret, or fits a pattern, and what told it."""
        before = self.end.rpartition(b"\n")[2][-LONGEST_LINE:]
        if not before:
            return
        line = (before + chunk.partition(b"\n")[0][:LONGEST_LINE]).decode("utf-8", "surrogateescape")
        found: list[tuple[str, str]] = []
        hide(line, "text", lambda key, secret: found.append((key or "err", secret)))
        for pattern in patterns:
            found += ((BY_PATTERN, match[match.re.groups and match[1] is not None]) for match in pattern.finditer(line))
        raw = line.encode("utf-8", "surrogateescape")
        for key, secret in found:
            for begin, end in _places(raw, secret.encode("utf-8", "surrogateescape")):
                if end > len(before):
                    yield max(0, begin - len(before)), end - len(before), key


def _places(text: bytes, secret: bytes) -> Iterator[tuple[int, int]]:
    at = text.find(secret) if secret else -1
    while at >= 0:
        yield at, at + len(secret)
        at = text.find(secret, at + len(secret))
