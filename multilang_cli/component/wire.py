"""The pipe to Storm: messages on stdin and stdout, as bytes.

A message is one JSON value, a line feed, and a line that says only ``end``. Storm reads and writes UTF-8 whatever LANG
says (``JsonSerializer``, since 0.9.3), so this module works on bytes and never on text streams.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, BinaryIO

Json = Any
"""A value as JSON has it: None, bool, int, float, str, list, or dict with str keys."""

STDIN, STDOUT, STDERR = 0, 1, 2
MOST_UNSENT = 1 << 16
"""Bytes that may wait for the next message."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(value: Json) -> bytes:
    """A value as it goes through the pipe.

    Raises ValueError for what JSON and UTF-8 cannot carry (NaN, infinities, lone surrogates), TypeError for values that
    JSON does not have.
    """
    # json-smart loses a raw U+007F from a string that has an escape (Storm 2.6 and later).
    return _ENCODER.encode(value).encode().replace(b"\x7f", b"\\u007f")


class Wire:
    """Both directions of the conversation. `source` is read as lines; `sink` is the descriptor that Storm reads."""

    def __init__(self, source: BinaryIO, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._unsent = b""

    def read(self) -> Json:
        """Return Storm's next message.

        Raises EOFError when Storm has closed the pipe, also in the middle of a message; ValueError if it is no JSON.
        """
        lines: list[bytes] = []
        while True:
            line = self._source.readline()
            if not line.endswith(b"\n"):
                raise EOFError("Storm closed the pipe")
            line = line.rstrip(b"\r\n")
            if line == b"end":
                # Of bytes json.loads first guesses the encoding, which costs as much as to read a command.
                return json.loads(b"\n".join(lines).decode(errors="surrogatepass"))
            lines.append(line)

    def write(self, message: bytes, *, more: bool = False) -> None:
        """Send one encoded message, at once and whole; with `more` together with the next one, which follows soon.

        Raises BrokenPipeError when Storm no longer reads.
        """
        self._unsent += message + b"\nend\n"
        if more and len(self._unsent) < MOST_UNSENT:
            return
        unsent, self._unsent = memoryview(self._unsent), b""
        while unsent:
            unsent = unsent[os.write(self._sink, unsent) :]


def open_stdio() -> Wire:
    """Take stdin and stdout for the protocol, and keep everything else away from them.

    From here on ``print()`` goes to stderr, and so does what C libraries and child processes write to descriptor 1. A
    child process finds its stdin empty: it cannot steal Storm's messages.
    """
    source, sink = os.dup(STDIN), os.dup(STDOUT)
    with contextlib.suppress(OSError):
        os.dup2(STDERR, STDOUT)
    sys.stdout = sys.stderr
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, STDIN)
    os.close(nothing)
    return Wire(os.fdopen(source, "rb"), sink)
