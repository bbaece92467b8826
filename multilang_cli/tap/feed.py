"""Records from the forwarding side of the tap to the recording side, on a pipe. Pure, standard library only.

A record is a kind, a time and bytes: what was read from a pipe, as it was read, or a fact as JSON, such as the exit of
the component (``protocol.words.events``).
"""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple

IN, OUT, ERR, FACT = range(4)
"""Kinds of records: bytes for the component's stdin, bytes of its stdout, of its stderr, and a fact."""

NAMES = ("in", "out", "err", "fact")
"""The kinds as channels, which a transcript calls so."""

_HEAD = struct.Struct("<BdI")


class TapRecord(NamedTuple):
    """One thing that passed. `t` in seconds since the tap began; `data`: its bytes, JSON for a fact."""

    kind: int
    t: float
    data: bytes


def pack(kind: int, t: float, data: bytes) -> bytes:
    """A record as it is written to the pipe."""
    return _HEAD.pack(kind, t, len(data)) + data


def pack_fact(t: float, event: str, **fields: Any) -> bytes:
    """A fact, by the name and the fields it has in a transcript."""
    return pack(FACT, t, json.dumps({"event": event, **fields}).encode())


class Unpacker:
    """Bytes from the pipe to records, whatever the pieces they arrive in."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[TapRecord]:
        """Add bytes; the records that are now complete, oldest first."""
        buffer = self._buffer
        buffer += data
        found = []
        at = 0
        while at + _HEAD.size <= len(buffer):
            kind, t, size = _HEAD.unpack_from(buffer, at)
            end = at + _HEAD.size + size
            if end > len(buffer):
                break
            found.append(TapRecord(kind, t, bytes(buffer[at + _HEAD.size : end])))
            at = end
        del buffer[:at]
        return found
