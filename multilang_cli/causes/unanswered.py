"""Tuples, commands and heartbeats that a component was sent, and has not answered. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.protocol.words.messages import Error, Log, Sync

if TYPE_CHECKING:
    from collections.abc import Collection

    from multilang_cli.causes.model import Asked

_OVERDUE = 2.0
"""Seconds of silence from which on a heartbeat is not on its way to be answered any more."""


class SentMessage(NamedTuple):
    """A message that was sent to it: what it asks for, when, and how many bytes it has."""

    asked: Asked
    t: float
    size: int


class Unanswered:
    """Messages that wait for an answer. `pending`: by seq, the kind of each, and a tuple's id.

    `answered`: the kind of the last that it settled, if that was all it said since, but for logs. `struck`: the last
    that it was sent, if it died at once of that. `answers_ids`: it syncs for task ids. `synced_to`: kinds that a sync
    came for.
    """

    def __init__(self) -> None:
        self.pending: dict[int, tuple[Asked, str]] = {}
        self.answered: Asked = ""
        self.struck: Asked = ""
        self.answers_ids = False
        self.synced_to: set[Asked] = set()
        self._ids_came = self._unasked = 0
        self._empty_ids = False
        self._given: dict[int, SentMessage] = {}
        self._open: dict[str, int] = {}
        self._ticks: set[str] = set()
        self._answers: set[Asked] = set()
        self._has_answered = self._passes_over = self._erred = False
        self._parting: dict[int, tuple[Asked, str]] | None = None

    def sent(self, seq: int, given: SentMessage, id_: str) -> None:
        """Take a message to it."""
        self.pending[seq] = (given.asked, id_)
        self._given[seq] = given
        if given.asked == "tuple":
            self._open[id_] = seq
        elif given.asked == "tick":
            self._ticks.add(id_)
        elif given.asked == "no-ids":
            self._empty_ids = True

    def ids_sent(self) -> None:
        """Take task ids."""
        self._ids_came += 1

    def spoke(self) -> None:
        """Take any message of its own: an empty list of ids may have been read before it."""
        if self._empty_ids:
            self._empty_ids = False
            self.pending = {seq: each for seq, each in self.pending.items() if each[0] != "no-ids"}

    def said(self, message: object) -> None:
        """Take a message of its own, before what that answers."""
        # Adapters say an error and a sync when they end: that sync answers nothing.
        self._parting = self.pending if self._erred and isinstance(message, Sync) else None
        self._erred = isinstance(message, Error)
        if not isinstance(message, Log | Error):
            self.answered = ""

    def settled(self, id_: str) -> bool:
        """Take an ack or fail; True if it answers something."""
        self._ticks.discard(id_)
        self._answers.update(("tuple",) if self._open.pop(id_, None) is not None else ())
        at = next((seq for seq, (_, each) in self.pending.items() if each == id_), None)
        if at is not None:
            self.answered = self.pending[at][0]
            self._has_read(at)
        return at is not None

    def synced(self) -> tuple[Asked, str] | None:
        """Take a sync; what it answers, None if nothing was asked for."""
        at = next((seq for seq, (asked, _) in self.pending.items() if asked not in {"tuple", "tick"}), None)
        if at is None:
            self._unasked += 1
            self.answers_ids = self._unasked <= self._ids_came and (self.answers_ids or self._unasked == 1)
            return None
        of = self.pending[at]
        self.synced_to.add(of[0])
        self._has_read(at)
        return of

    def _has_read(self, at: int) -> None:
        """Note that it answers what it was sent `at`: it has read all that came before that."""
        before = [asked for seq, (asked, _) in self.pending.items() if seq < at]
        self._has_answered = True
        self._answers.add(self.pending[at][0])
        self._passes_over = self._passes_over or "heartbeat" in before
        self.pending = {seq: each for seq, each in self.pending.items() if seq > at}

    def ended(self, unread: int, *, at_once: bool) -> bool:
        """Take its end, `at_once` behind what it was sent last, with so many bytes left `unread`: nobody dies of those.

        True if it had read any message.
        """
        self.pending = self._parting or self.pending
        last = next(reversed(self.pending.values()), None)
        self.struck = last[0] if last is not None and at_once else ""
        read = len(self._given)
        for seq, given in reversed(self._given.items()):
            unread -= given.size
            if unread < 0:
                break
            self.pending.pop(seq, None)
            read -= 1
        return read > 0

    def is_stalled(self, now: float, *, waited: bool) -> bool:
        """True if neither the tuples nor the heartbeats are answered that came behind what it answered.

        `waited`: for the answer of a heartbeat. Else one that was sent a moment ago may be on its way to be answered.
        """
        kinds = {asked for asked, _ in self.pending.values()}
        first = next((seq for seq, (asked, _) in self.pending.items() if asked == "heartbeat"), None)
        overdue = first is not None and (waited or now - self._given[first].t >= _OVERDUE)
        return self._has_answered and not self._passes_over and overdue and "tuple" in kinds

    def is_all_of(self, pieced: Collection[int], answers: Collection[str], forgets: Collection[str]) -> bool:
        """True if all that it has not answered was `pieced`, and it answers such messages where they come whole.

        `answers`: of which it is known from elsewhere; `forgets`: of which it leaves whole ones unanswered.
        """
        pending = Counter(asked for asked, _ in self.pending.values() if asked != "tuple")
        # A sync does not say which heartbeat it answers: that of a whole one behind is taken for an answer to this.
        parts = Counter(given.asked for seq, given in self._given.items() if seq in pieced)
        lost = {*pending, *(("tuple",) if self._open else ())}
        known = all(a in self._answers or a in answers for a in lost) and lost.isdisjoint(forgets)
        # Who answers one of the same kind that came in pieces, loses none.
        all_lost = all(parts[asked] == count for asked, count in pending.items())
        return bool(lost) and known and all_lost and {*self._open.values()} <= {*pieced}

    @property
    def open_ones(self) -> Collection[str]:
        """The tuples that are not settled, by id; ticks are none."""
        return self._open.keys()

    @property
    def ids(self) -> list[str]:
        """The ids of all, "" for what has none."""
        return [id_ for _, id_ in self.pending.values()]

    @property
    def only_ticks(self) -> bool:
        """True if ticks are open, and no other tuple."""
        return bool(self._ticks) and not self._open

    @property
    def settles_ticks_alone(self) -> bool:
        """True if it settled ticks, and no other tuple: what comes between emits and their ids has no part in that."""
        return "tick" in self._answers and "tuple" not in self._answers

    @property
    def syncs_ticks(self) -> bool:
        """True if ticks alone are open, several, and for each of them, and nothing else, a sync came unasked."""
        return self.only_ticks and 1 < len(self._ticks) == self._unasked and not self._ids_came

    @property
    def first_tuple(self) -> str | None:
        """The id of the first tuple that may not have been read yet."""
        return next((id_ for asked, id_ in self.pending.values() if asked == "tuple"), None)

    @property
    def size(self) -> int:
        """Bytes of the first of all."""
        first = next(iter(self.pending), None)
        return self._given[first].size if first is not None else 0
