"""The two tasks that partial key grouping has for a key (``PartialKeyGrouping``). Pure.

Since 2.0: two numbers from ``java.util.Random``, seeded by the key's hash; before, Guava's ``murmur3_128`` of the key
with two seeds.
"""

from __future__ import annotations

import struct

from multilang_cli.protocol.storm.dialects.java import wrap

_INT, _LONG = 32, 64
_MASK = (1 << _LONG) - 1
_RANDOM_BITS, _RANDOM_TAKEN = 48, 31
_RANDOM_MASK = (1 << _RANDOM_BITS) - 1
_MULTIPLIER, _INCREMENT = 0x5DEECE66D, 0xB
_SEEDS = (13, 17)
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
_HASH_BLOCK = 16


def candidates(key: bytes, count: int) -> tuple[int, int]:
    """The indexes of two of `count` tasks, since Storm 2.0; the same one twice if there is only one."""
    seed = 1
    for (byte,) in struct.iter_unpack("b", key):
        seed = wrap(31 * seed + byte, _INT)
    random = _JavaRandom(seed)
    first, second = random.next_int(count), random.next_int(count)
    return first, (second + 1) % count if first == second else second


def candidates_before_2(key: bytes, count: int) -> tuple[int, int]:
    """The indexes of two of `count` tasks up to 1.2; they may be the same."""
    first, second = (abs(wrap(_murmur3_low(key, seed), _LONG)) % count for seed in _SEEDS)
    return first, second


class _JavaRandom:
    """``java.util.Random``: a linear congruential generator of 48 bits."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _RANDOM_MASK

    def _next(self) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _RANDOM_MASK
        return self._state >> (_RANDOM_BITS - _RANDOM_TAKEN)

    def next_int(self, bound: int) -> int:
        """A number from 0 to `bound` - 1 (``nextInt``)."""
        bits = self._next()
        if bound & (bound - 1) == 0:
            return bound * bits >> _RANDOM_TAKEN
        while bits - bits % bound + bound - 1 >= 1 << _RANDOM_TAKEN:
            bits = self._next()
        return bits % bound


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> (_LONG - by)) & _MASK


def _mixed(k1: int, k2: int) -> tuple[int, int]:
    return _rotated(k1 * _C1 & _MASK, 31) * _C2 & _MASK, _rotated(k2 * _C2 & _MASK, 33) * _C1 & _MASK


def _finished(value: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor & _MASK
    return value ^ value >> 33


def _murmur3_low(data: bytes, seed: int) -> int:
    """The lower half of MurmurHash3 x64 128, unsigned (``HashCode.asLong``)."""
    h1 = h2 = seed
    whole = len(data) // _HASH_BLOCK * _HASH_BLOCK
    for words in struct.iter_unpack("<2Q", data[:whole]):
        k1, k2 = _mixed(*words)
        h1 = ((_rotated(h1 ^ k1, 27) + h2) * 5 + 0x52DCE729) & _MASK
        h2 = ((_rotated(h2 ^ k2, 31) + h1) * 5 + 0x38495AB5) & _MASK
    k1, k2 = _mixed(*struct.unpack("<2Q", data[whole:].ljust(_HASH_BLOCK, b"\0")))
    h1, h2 = h1 ^ k1 ^ len(data), h2 ^ k2 ^ len(data)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    return (_finished(h1) + _finished(h2)) & _MASK
