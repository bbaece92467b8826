"""Emits of a component: the ids it gave them, and whether it goes on behind one, or answers without one. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from multilang_cli.causes.swallowing import MOST_FOLLOWED

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import Emit

_TUPLES_NO_CHANCE = 3
"""Tuples from which on what all have in common is no chance."""


class Emitting:
    """The behaviour of a bolt after emits that Storm sends no task ids for: `need_task_ids` false, or direct.

    `went_on`: it emitted again for the same tuple, or settled it, before any ids came.
    """

    def __init__(self) -> None:
        self._ids_since: dict[str, bool] = {}
        self._tuples: set[str] = set()
        self.went_on = self._settled = False
        self._emits = self._fed = 0

    def emitted(self, emit: Emit) -> None:
        """The last emit anchored to a tuple counts."""
        unasked = emit.task is not None or not emit.need_task_ids
        self._emits += 1
        for anchor in emit.anchors:
            # Who emits once more without ids did not wait for any.
            self.went_on = self.went_on or self._ids_since.pop(anchor, True) is False
            if unasked:
                self._ids_since[anchor] = False
                self._tuples.add(anchor)

    def ids_sent(self) -> None:
        """Those of some other emit."""
        self._ids_since = dict.fromkeys(self._ids_since, True)

    def settled(self, id_: str) -> None:
        """Take an ack or fail: who settles a tuple before further ids came did not wait for any."""
        self._settled = True
        self.went_on = self.went_on or not self._ids_since.pop(id_, True)

    def fed(self) -> None:
        """Take a tuple that was sent to it."""
        self._fed += 1

    @property
    def awaits_unasked(self) -> bool:
        """True if `_TUPLES_NO_CHANCE` tuples or more all stay open behind such an emit, or go on behind other ids."""
        return len(self._tuples) >= _TUPLES_NO_CHANCE and not self.went_on

    @property
    def held_behind_unasked(self) -> bool:
        """True if of `_TUPLES_NO_CHANCE` tuples or more it did nothing with any but for one such emit."""
        return self._emits == len(self._tuples) == 1 and self._fed >= _TUPLES_NO_CHANCE and not self._settled


class Nexts:
    """The calls of next to a spout that it answered: with an emit, or without; and whether that asked for task ids."""

    def __init__(self) -> None:
        self._emit: Emit | None = None
        self._answered: set[bool] = set()
        self._asked: set[bool] = set()

    def asked(self) -> None:
        """Take a command."""
        self._emit = None

    def emitted(self, emit: Emit) -> None:
        """Take an emit: the last one counts."""
        self._emit = emit

    def answered(self, command: str) -> None:
        """Take the sync that answers a command."""
        if command == "next":
            self._answered.add(self._emit is not None)
            self._asked.update(() if self._emit is None else (self._emit.wants_task_ids,))

    @property
    def idle_is_new(self) -> bool:
        """True if all that were answered had an emit, and it has not emitted since it was asked last."""
        return self._answered == {True} and self._emit is None

    @property
    def unasked_is_new(self) -> bool:
        """True if it answered behind emits that asked for task ids alone, and its last one asked for none."""
        return self._asked == {True} and self._emit is not None and not self._emit.wants_task_ids


class EmittedIds:
    """The ids that a spout emitted and how often each was emitted and brought back.

    `asked`: the id that Storm brought back last. `shared`: it was given to several tuples, of which one was brought
    back before. `pending`: how many tuples were pending as it was brought back. `came_again`: it had failed before, and
    been emitted again.
    """

    def __init__(self) -> None:
        self.asked = ""
        self.shared = False
        self.pending = 0
        self.came_again = False
        self._open: dict[str, int] = {}
        self._failed: set[str] = set()
        self._parted: set[str] = set()

    def emitted(self, given: object) -> None:
        """Take an emit with an id, of whatever type."""
        id_ = str(given)
        if id_ in self._open or len(self._open) < MOST_FOLLOWED:
            self._open[id_] = self._open.get(id_, 0) + 1

    def brought_back(self, given: object, *, fails: bool) -> None:
        """Take an ack or fail of an id."""
        id_ = str(given)
        known = self._open.get(id_, 0)
        self.came_again = known == 1 and id_ in self._failed
        self.asked, self.shared = id_ if known else "", id_ in self._parted
        self.pending = sum(self._open.values())
        if known > 1:
            self._open[id_] = known - 1
            self._parted.add(id_)
        else:
            self._open.pop(id_, None)
            self._parted.discard(id_)
            if fails and known and len(self._failed) < MOST_FOLLOWED:
                self._failed.add(id_)
            else:
                self._failed.discard(id_)

    def is_missed_by(self, exception: str) -> bool:
        """True if an exception names the id that was brought back last, which it emitted itself."""
        named = rf"(?<![\w-]){re.escape(self.asked)}(?![\w-])"
        return bool(self.asked) and re.search(named, exception) is not None
