"""A histogram of times over many orders of magnitude, with the same relative precision everywhere (as HdrHistogram).

Pure. Memory does not grow with what is recorded: a bucket for each 1/128 of a power of two.
"""

from __future__ import annotations

from collections import Counter

BITS = 7
"""Bits of precision: a value is told to 1/2**BITS of itself, under 1 %."""


class Histogram:
    """Times in nanoseconds."""

    def __init__(self) -> None:
        self.count = 0
        self.most = 0
        self._buckets: Counter[int] = Counter()

    def add(self, value: int) -> None:
        """Record a value of 0 or more."""
        self.count += 1
        self.most = max(self.most, value)
        self._buckets[_bucket(value)] += 1

    def merge(self, other: Histogram) -> None:
        """Record all that another has recorded."""
        self.count += other.count
        self.most = max(self.most, other.most)
        self._buckets.update(other._buckets)

    def at(self, share: float) -> int:
        """The value that a `share` of all does not exceed, such as 0.99; 0 if there is none."""
        wanted, seen = share * self.count, 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= wanted:
                return min(_highest(bucket), self.most)
        return 0


def _bucket(value: int) -> int:
    """Small values have a bucket each; larger ones share it with those that differ in lower bits only."""
    shift = max(0, value.bit_length() - BITS - 1)
    return (shift << (BITS + 1)) + (value >> shift)


def _highest(bucket: int) -> int:
    """The highest value that goes into a bucket."""
    shift = bucket >> (BITS + 1)
    low = bucket & ((1 << (BITS + 1)) - 1)
    return ((low + 1) << shift) - 1
