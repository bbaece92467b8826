"""Equal tuples and what became of them: a bolt may take the first, and fail each that comes behind it. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import TupleMsg

ENOUGH = 3
"""Equal tuples that are failed behind one that was acked: fewer may be chance."""
ONCE = (
    "it acks a tuple once, and fails each equal one behind it: unless it limits how often one may come, does a tuple "
    "use up what the next one needs (a pipe or a cursor that is never closed, an iterator or a file that was read to "
    "its end)?"
)


class EqualOnes:
    """The fates of equal tuples in one conversation, or in several together.

    `failed_behind`: ENOUGH were failed behind an equal one that was acked; `again`: one was acked behind such a one.
    """

    def __init__(self) -> None:
        self.again = self.failed_behind = False
        self._acked: Counter[int] = Counter()
        self._failed: Counter[int] = Counter()

    @property
    def once(self) -> bool:
        """True if it takes a tuple once and no more, wherever there were enough of them."""
        return self.failed_behind and not self.again

    def settled(self, message: TupleMsg, *, failed: bool) -> None:
        """Count one that is settled."""
        key = hash((message.comp, message.stream, repr(message.values)))
        if not failed:
            self._acked[key] += 1
            self.again = self.again or self._acked[key] > 1
        elif key in self._acked:
            self._failed[key] += 1
            self.failed_behind = self.failed_behind or self._failed[key] >= ENOUGH

    def add(self, other: EqualOnes) -> None:
        """Count what another conversation showed."""
        self.failed_behind = self.failed_behind or other.failed_behind
        self.again = self.again or other.again
