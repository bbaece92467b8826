"""The message ids that a spout gave its tuples, and what Storm told it of them. Pure."""

from __future__ import annotations

import re

from multilang_cli.causes.swallowing import MOST_FOLLOWED


class EmittedIds:
    """The ids that a spout emitted and how often each was emitted and brought back.

    `asked`: the id that Storm brought back last. `shared`: it was given to several tuples, of which one was brought
    back before. `pending`: how many tuples were pending as it was brought back.
    """

    def __init__(self) -> None:
        self.asked = ""
        self.shared = False
        self.pending = 0
        self._open: dict[str, int] = {}
        self._parted: set[str] = set()

    def emitted(self, given: object) -> None:
        """Take an emit with an id, of whatever type."""
        id_ = str(given)
        if id_ in self._open or len(self._open) < MOST_FOLLOWED:
            self._open[id_] = self._open.get(id_, 0) + 1

    def brought_back(self, given: object) -> None:
        """Take an ack or fail of an id."""
        id_ = str(given)
        known = self._open.get(id_, 0)
        self.asked, self.shared = id_ if known else "", id_ in self._parted
        self.pending = sum(self._open.values())
        if known > 1:
            self._open[id_] = known - 1
            self._parted.add(id_)
        else:
            self._open.pop(id_, None)
            self._parted.discard(id_)

    def is_missed_by(self, exception: str) -> bool:
        """True if an exception names the id that was brought back last, which it emitted itself."""
        named = rf"(?<![\w-]){re.escape(self.asked)}(?![\w-])"
        return bool(self.asked) and re.search(named, exception) is not None
