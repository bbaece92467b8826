"""Delta debugging: the smallest part of a failing input that still fails (Zeller and Hildebrandt, 2002). Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Shrinking:
    """Shrinks the numbers below `size` to a part of which none can be left out.

    `fails` is asked about a part, numbers in order; it is asked about each part once at most. `best`: the smallest that
    failed so far, all at first: it may be taken at any time. `tried`: how often `fails` was asked.
    """

    def __init__(self, size: int, fails: Callable[[tuple[int, ...]], bool]) -> None:
        self.best: tuple[int, ...] = tuple(range(size))
        self.tried = 0
        self._fails = fails
        self._known: dict[tuple[int, ...], bool] = {}

    def test(self, part: tuple[int, ...]) -> bool:
        """True if `part` fails; the best is kept."""
        if part not in self._known:
            self.tried += 1
            self._known[part] = self._fails(part)
            if self._known[part] and len(part) < len(self.best):
                self.best = part
        return self._known[part]

    def run(self) -> tuple[int, ...]:
        """The smallest part found: leaving out any one of its numbers, it would not fail."""
        if not self.best or self.test(()):
            return self.best
        pieces = 2
        while len(self.best) > 1:
            smaller = next((each for each in _candidates(self.best, pieces) if self.test(each[0])), None)
            if smaller is not None:
                pieces = smaller[1]
            elif pieces >= len(self.best):
                break
            else:
                pieces = min(2 * pieces, len(self.best))
        return self.best


def _candidates(part: tuple[int, ...], pieces: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Each of so many pieces of `part` alone, then all but each; with how many pieces to go on if it fails."""
    edges = [len(part) * number // pieces for number in range(pieces + 1)]
    cuts = list(pairwise(edges))
    for begin, end in cuts:
        yield part[begin:end], 2
    for begin, end in cuts if pieces > 2 else ():  # noqa: PLR2004 (of two pieces, the rest is the other one)
        yield part[:begin] + part[end:], max(pieces - 1, 2)
