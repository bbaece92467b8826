"""Tuples that a bolt loses: those it takes for task ids, and those that it would have settled. Pure."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from multilang_cli.protocol.words.messages import Emit, TupleMsg

IDS = ""
"""Task ids among the messages that are read; tuples have their own ids."""
WAITED_OFTEN = 3
"""Task ids that somebody waited for who has other messages to read: by then it is no chance."""
ALTERNATE = 2
"""Every other tuple is lost by a reader that takes one too many; one of more is lost by what counts them."""
MOST_OF_A_BYTE = 127
"""Java has one object for each number up to that."""
MOST_FOLLOWED = 4096
"""Messages that are followed, at most."""


class NaiveReader:
    """A reader that takes one message for each emit that asks for task ids. `swallowed`: ids of tuples taken so.

    If none of these is ever answered, though others are, the component reads in that way. `always`: it takes one for
    each emit, whether that asks for task ids or not.
    """

    def __init__(self, *, always: bool = False) -> None:
        self._always = always
        self._handed = self._stepped = self._unasked = False
        self._beats: set[str] = set()
        self._syncs = 0
        self.swallowed: set[str] = set()
        self._unread: deque[str] = deque(maxlen=MOST_FOLLOWED)
        self._awaited = 0
        self._went_on = self._answered = False
        self._order: dict[str, int] = {}
        self._first: int | None = None

    def sent(self, id_: str, *, beat: bool = False) -> None:
        """Take a tuple, a heartbeat, or `IDS`."""
        if beat and len(self._beats) < MOST_FOLLOWED:
            self._beats.add(id_)
        if id_ != IDS and len(self._order) < MOST_FOLLOWED:
            self._order[id_] = len(self._order)
        if self._awaited:
            self._awaited -= 1
            self._handed = True
            self._swallow(id_)
        else:
            self._unread.append(id_)

    def emitted(self, emit: Emit) -> None:
        """Take an emit: all up to the tuple that it is anchored to has been read."""
        self._stepped = self._stepped or self._handed
        anchors = frozenset(emit.anchors)
        self._answered = self._answered or not anchors.isdisjoint(self.swallowed)
        last = next((id_ for id_ in reversed(self._unread) if id_ in anchors), None)
        if last is not None:
            while self._unread.popleft() != last:
                pass
        self._unasked = self._unasked or not emit.wants_task_ids
        if not (emit.wants_task_ids or self._always):
            return
        if self._unread:
            self._swallow(self._unread.popleft())
        else:
            self._awaited += 1

    def settled(self, id_: str) -> None:
        """Take an ack or fail: who settles one that was sent behind one that it swallowed goes on."""
        behind = self._first is not None and self._order.get(id_, -1) > self._first
        self._went_on = self._went_on or behind
        self._stepped = self._stepped or self._handed
        self.answered(id_)

    def answered(self, id_: str) -> None:
        """Take the sync of a heartbeat; who answers those alone may settle nothing at all."""
        self._answered = self._answered or id_ in self.swallowed

    def synced(self) -> None:
        """Take a sync, which does not say whose it is: there are no more than heartbeats that were not swallowed."""
        self._syncs += 1

    def _swallow(self, id_: str) -> None:
        if id_ != IDS:
            self.swallowed.add(id_)
            self._first = min(
                self._order.get(id_, MOST_FOLLOWED), MOST_FOLLOWED if self._first is None else self._first
            )

    @property
    def lost(self) -> bool:
        """True if it went on behind what it swallowed, and answered none of that."""
        return self._went_on and not self._answered

    def is_all(self, pending: Iterable[str]) -> bool:
        """True if `pending`, what it has not answered, is just what it swallowed, and it went on as that came.

        Where no emit went without task ids, nobody waited for any that were not asked for.
        """
        if self._always and not self._unasked:
            return False
        answered = self._answered or self._syncs > len(self._beats - self.swallowed)
        return (self._stepped or self._went_on) and not answered and self.swallowed >= {*pending}


class BlockedReader:
    """A reader that takes so many messages, whatever they are, for each emit that asks for task ids.

    It stands still until all are there, so whoever says anything before that is none of this kind.
    """

    def __init__(self, reads: int) -> None:
        self._reads = reads
        self._unread: deque[str] = deque()
        self._swallowed: set[str] = set()
        self._behind: set[str] = set()
        self._beats: set[str] = set()
        self._awaited = self._syncs = 0
        self._current: tuple[str, ...] = ()
        self._handed = self._stepped = self._went_on = self._differs = False

    def sent(self, id_: str, *, beat: bool = False) -> None:
        """Take a tuple, a heartbeat, or `IDS`."""
        if self._differs:
            return
        self._unread.append(id_)
        if beat:
            self._beats.add(id_)
        if self._swallowed:
            self._behind.add(id_)
        if self._awaited:
            self._read_on()
        self._differs = max(map(len, (self._unread, self._behind, self._beats))) > MOST_FOLLOWED

    def emitted(self, emit: Emit) -> None:
        """Take an emit: all up to the tuple that it is anchored to has been read."""
        if self._differs_now():
            return
        self._current = emit.anchors
        self._handled(emit.anchors)
        if emit.wants_task_ids:
            self._awaited = self._reads
            while self._awaited and self._unread:
                self._read_on()

    def settled(self, id_: str) -> None:
        """Take an ack or fail."""
        if self._differs_now():
            return
        self._handled((id_,))
        self._differs = id_ in self._swallowed
        self._went_on = self._went_on or id_ in self._behind

    def synced(self) -> None:
        """Take a sync, which does not say whose it is: that of the first heartbeat that it may have read."""
        if self._differs_now():
            return
        self._handled(tuple(islice((id_ for id_ in self._unread if id_ in self._beats), 1)))
        self._syncs += 1

    def explains(self, left_open: Collection[str]) -> bool:
        """True if the tuples `left_open` and the heartbeats that it did not answer are those that it took so.

        Besides these the tuple stays open whose emit it waits behind. Who works long on a tuple and answers no
        heartbeat at all looks alike while one comes: a sync, or a wait like this, tells them apart.
        """
        held = self._current if self._awaited else ()
        beats = self._swallowed & self._beats
        lost = self._swallowed - self._beats
        told = self._went_on if lost else bool(beats) and (self._syncs > 0 or bool(self._awaited))
        all_beats = self._syncs == len(self._beats) - len(beats)
        return told and self._stepped and not self._differs and all_beats and {*left_open} == lost | {*held}

    def _handled(self, ids: Sequence[str]) -> None:
        """Take all up to the last of these for read."""
        unread = self._unread
        if unread and unread[0] in ids and len(ids) == 1:
            unread.popleft()
        elif (last := next((id_ for id_ in reversed(unread) if id_ in ids), None)) is not None:
            while unread.popleft() != last:
                pass

    def _read_on(self) -> None:
        self._awaited -= 1
        if (id_ := self._unread.popleft()) != IDS:
            self._handed = self._handed or not self._awaited
            if not self._swallowed:
                self._behind.update(self._unread)
            self._swallowed.add(id_)

    def _differs_now(self) -> bool:
        """True if it is none of this kind, now that it says something; nothing that comes later counts then."""
        if self._awaited > 0:
            self._differs = True
        elif self._handed:
            self._stepped = True
        return self._differs


class DroppingReader:
    """A reader that drops what comes before the task ids of its emit. `dropped`: ids of the tuples it would lose.

    `went_on`: a tuple that came behind those was answered; `waits`: often enough it went on only as the ids came,
    though there was something else to read.
    """

    def __init__(self) -> None:
        self.dropped: set[str] = set()
        self._waited = self._hurried = 0
        self._unread: deque[str] = deque(maxlen=MOST_FOLLOWED)
        self._awaited = 0
        self._answered = self._handled = self.went_on = False

    def sent(self, id_: str) -> None:
        """Take a tuple."""
        if not self._awaited:
            self._unread.append(id_)
        elif len(self.dropped) < MOST_FOLLOWED:
            self.dropped.add(id_)

    def ids_sent(self) -> None:
        """Take task ids: what comes behind them is read as a tuple again."""
        self._waited += bool(self._awaited and self.dropped)
        self._awaited = max(0, self._awaited - 1)

    def emitted(self, emit: Emit) -> None:
        """Take an emit: all up to the tuple that it is anchored to has been read."""
        for id_ in emit.anchors:
            self.answered(id_)
        self._hurried += self._awaited
        if emit.wants_task_ids:
            self._awaited += 1
            self.dropped.update(self._unread)
            self._unread.clear()

    def answered(self, id_: str) -> None:
        """Take the id of an ack, a fail or an anchor."""
        self._handled = True
        self._answered = self._answered or id_ in self.dropped
        if id_ in self._unread:
            self.went_on = self.went_on or bool(self.dropped)
            while self._unread.popleft() != id_:
                self._answered = True

    @property
    def waits(self) -> bool:
        """True if it emitted nothing while ids were to come, `WAITED_OFTEN` times and more."""
        return self._waited >= WAITED_OFTEN and not self._hurried

    def took(self, left_open: Collection[str]) -> bool:
        """True if what is `left_open` is just what it would have dropped.

        What it emits for is not dropped: who never settles or anchors to a tuple emits for some of those that are open.
        """
        return self._handled and not self._answered and bool(self.dropped) and self.dropped == {*left_open}


class Mislaid:
    """Tuples that stay open while others are settled, of which it tells more than a choice by their values would.

    The only emit of a tuple that comes behind its ack is late, and no other's. `for_an_equal`: it anchored to one that
    was settled, and settled another with the same values at once.
    """

    def __init__(self) -> None:
        self._passed_over: set[str] = set()
        self._values: dict[str, int] = {}
        self._open: dict[str, None] = {}
        self._settled: set[int] = set()
        self._emitted: set[str] = set()
        self._anchored: set[str] = set()
        self._closed: Sequence[str] = ()
        self.for_an_equal = False
        self._settles = self._in_turn = 0
        self._newest: dict[int, str] = {}

    def sent(self, message: TupleMsg) -> None:
        """Take a tuple."""
        if len(self._values) < MOST_FOLLOWED:
            self._values[message.id] = hash(f"{message.comp} {message.stream} {message.values}")
            self._open[message.id] = None
            self._newest[self._values[message.id]] = message.id

    def settled(self, id_: str) -> None:
        """Take an ack or fail."""
        self._named([id_])
        if id_ in self._open:
            equal = [each for each in self._closed if self._values[each] == self._values[id_]]
            self.for_an_equal = self.for_an_equal or bool(equal)
        self._closed = ()
        self._emitted.discard(id_)
        if id_ in self._open:
            del self._open[id_]
            self._settles += 1
            self._in_turn += self._newest[self._values[id_]] in self._open
            self._settled.add(self._values[id_])

    def anchored(self, ids: Sequence[str]) -> None:
        """Take the anchors of an emit."""
        followed = self._values.keys() & {*ids}
        self._closed = () if followed & self._open.keys() else tuple(followed)
        if self._anchored.issuperset(followed):
            self._named(ids)
        else:
            self._emitted |= self._open.keys() & followed
            self._anchored |= followed

    def _named(self, ids: Sequence[str]) -> None:
        """Take the id that is settled, or those anchored to: who names an open one beside the last has a list."""
        still_open = self._open.keys() & {*ids}
        self._emitted |= still_open
        if self._open and not still_open and self._values and next(reversed(self._values)) in ids:
            self._passed_over.update(self._open)

    @property
    def overwritten(self) -> bool:
        """True if the last was settled or anchored to once more while one was open that is never settled."""
        return not self._open.keys().isdisjoint(self._passed_over)

    @property
    def left_open(self) -> Collection[str]:
        """The ids of those that were neither acked nor failed."""
        return self._open.keys()

    @property
    def leaves_most(self) -> bool:
        """True if it settled the first of all and a few others, and leaves more open that are equal to those."""
        if next(iter(self._values), None) in self._open:
            return False
        equal = sum(self._values[id_] in self._settled for id_ in self._open)
        return equal > len(self._values) - len(self._open)

    @property
    def half_done(self) -> bool:
        """True if one stays open that an emit is anchored to."""
        return bool(self._emitted)

    @property
    def leaves_the_first(self) -> bool:
        """True if the first of all stays open, and unnamed, though another with the same values was settled.

        Whoever takes what it reads next for task ids has handled the first: there was no emit before it.
        """
        first = next(iter(self._values), None)
        return first in self._open and first not in self._emitted and self._values[first] in self._settled

    @property
    def beyond_a_byte(self) -> bool:
        """True if it settled as many as a byte with a sign can count."""
        return self._settles >= MOST_OF_A_BYTE

    @property
    def in_turn(self) -> bool:
        """True if it settled some while an equal one that came later was open: it has a place for each."""
        return self._in_turn >= WAITED_OFTEN

    @property
    def goes_on(self) -> bool:
        """True if the last of all was settled: what stays open before it keeps nothing up."""
        return bool(self._values) and next(reversed(self._values)) not in self._open

    @property
    def has_a_hole(self) -> bool:
        """True if one stays open although one that came later was settled."""
        first = next(iter(self._open), None)
        return first is not None and [*self._values][-len(self._open)] != first

    @property
    def stops(self) -> bool:
        """True if it settled all up to one tuple, and none of the many behind that."""
        places = [place for place, id_ in enumerate(self._values, 1) if id_ in self._open]
        settled = len(self._values) - len(places)
        return bool(settled) and len(places) >= WAITED_OFTEN and places[0] == settled + 1

    @property
    def each(self) -> int:
        """The number of which it leaves the last open each time, whatever is open behind them; 0 if there is none.

        Where values come in turn, those of one sample stand at such places too: some of the same must be settled.
        """
        if len(self._open) <= 1:
            return 0
        places = [place for place, id_ in enumerate(self._values, 1) if id_ in self._open]
        last = max((place for place, id_ in enumerate(self._values, 1) if id_ not in self._open), default=0)
        holes = [place for place in places if place < last]
        each = holes[0] if len(holes) > 1 and not (self._values_recur and not self.any) else 0
        return each if each > ALTERNATE and holes == list(range(each, last + 1, each)) else 0

    @property
    def _values_recur(self) -> bool:
        return len({*self._values.values()}) < len(self._values)

    @property
    def any(self) -> bool:
        """True if one stays open though another with the same values was settled."""
        return any(self._values[id_] in self._settled for id_ in self._open)
