"""Ids of roots, edges (``MessageId.generateId``) and tuples: random signed 64-bit integers, from a source handed in."""

from __future__ import annotations

from struct import unpack
from typing import Protocol

import msgspec

_SIGN = 1 << 63
_SPAN = 1 << 64
_INT = 32
_LOW = (1 << _INT) - 1
_encode = msgspec.json.Encoder().encode


class RandomSource(Protocol):
    """A source of random bits; ``random.Random`` is one."""

    def getrandbits(self, k: int, /) -> int:
        """A random integer of `k` bits, 0 <= it < 2^k."""
        ...


def generate_id(source: RandomSource) -> int:
    """A random id, -2^63 <= id < 2^63, and never 0: an edge of 0 would leave every ack val as it was.

    Ids are taken for unique: that an ack val comes to 0 too early, by chance, has a probability of 2^-64 a message.
    """
    while not (bits := source.getrandbits(64)):
        pass
    return bits - _SPAN if bits >= _SIGN else bits


def tuple_id(source: RandomSource) -> str:
    """A random id of a tuple on its way to a shell component, which is told it as text."""
    return _encode(source.getrandbits(64) - _SIGN).decode()


def tuple_ids(source: RandomSource, count: int) -> list[str]:
    """As many ids as `tuple_id` gives in so many calls, at once: drawn as one number, the first at its low end."""
    if not count:
        return []
    signs = _SIGN * ((1 << 64 * count) // (_SPAN - 1))
    drawn = (source.getrandbits(64 * count) ^ signs).to_bytes(8 * count, "little")
    return _encode(unpack(f"<{count}q", drawn))[1:-1].decode().split(",")


def acker_index(root: int, ackers: int) -> int:
    """The place, among so many acker tasks in ascending order, of that of a root: fields grouping on its id alone.

    Every message about a root goes there. Nothing moves when an acker dies, and nearly everything would with another
    number of ackers: it is a hash modulo their number, no consistent hashing. Never called with 0 ackers.
    """
    bits = root & (_SPAN - 1)
    hashed = (31 + (bits ^ bits >> _INT)) & _LOW
    return (hashed - _LOW - 1 if hashed >> (_INT - 1) else hashed) % ackers
