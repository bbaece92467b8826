"""Events of long conversations that stand on a page: the first, those around findings, the last. Bounded memory."""

from __future__ import annotations

from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.reports.html.document import CHANNELS, Columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PAGE_EVENTS = 200_000
"""Events of one page, where nobody says how many."""
MOST_TEXT = 64 * 1024 * 1024
"""Characters of all messages of one page."""
KEPT_AT_BEGINNING = 100
"""Events that are kept at the beginning of a conversation."""
KEPT_AROUND_FINDING = 20
"""Events that are kept on each side of a finding."""
_LEAVE_OUT = 1024
_CONTROL = CHANNELS.index("control")


class Row(NamedTuple):
    """An event as it is shown; `place`: its number among all of its conversation; `thread` by its name, "" for none."""

    place: int
    seq: int
    t: float
    ch: int
    kind: str
    head: str
    text: str
    size: int
    thread: str


class Rows(NamedTuple):
    """Rows of events that follow each other, a part of `all`, which are made when looked at.

    `ends`: the characters of the texts of all up to each, from 0 on; `place`, `seq`: of the first.
    """

    all: Sequence[Row]
    ends: Sequence[int]
    place: int
    seq: int
    begin: int
    end: int

    @classmethod
    def of(cls, row: Row) -> Rows:
        """One row, already made."""
        return cls((row,), (0, len(row.text)), row.place, row.seq, 0, 1)

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.end - self.begin

    @property
    def text(self) -> int:
        """The characters of their texts."""
        return self.ends[self.end] - self.ends[self.begin]

    def made(self) -> Sequence[Row]:
        """The rows."""
        return self.all[self.begin : self.end]

    def split(self, count: int) -> tuple[Rows, Rows]:
        """The first `count`, and the others."""
        middle = min(self.begin + count, self.end)
        behind = self._replace(place=self.place + middle - self.begin, seq=self.seq + middle - self.begin, begin=middle)
        return self._replace(end=middle), behind


class EventBudget:
    """The room that the conversations of one page share: so many `events`, so many characters of `text`.

    At most half of it is for what is kept in any case, the rest for what came last.
    """

    def __init__(self, events: int = PAGE_EVENTS, text: int = MOST_TEXT) -> None:
        self.first = min(KEPT_AT_BEGINNING, events // 20)
        self._events, self._text = events, text
        self._keepers: list[Keeper] = []
        self._rows = self._characters = 0
        self._pinned_rows = self._pinned_characters = 0

    def keeper(self, wanted: Iterable[int]) -> Keeper:
        """A place for one conversation; `wanted`: the seqs of its findings and of what explains them."""
        keeper = Keeper(self, wanted)
        self._keepers.append(keeper)
        return keeper

    def pin(self, rows: Rows) -> bool:
        """True if there is room to keep `rows` in any case."""
        if self._pinned_rows >= self._events // 2 or self._pinned_characters >= self._text // 2:
            return False
        self._pinned_rows += rows.size
        self._pinned_characters += rows.text
        return True

    def room(self, rows: Rows) -> int:
        """The number of `rows` that may be put together: those that fit, and one, for which others are left out."""
        return max(1, self._events - self._rows + 1) if self._characters + rows.text <= self._text else 1

    def put(self, rows: Rows) -> None:
        """Take note of rows that are kept; leave out what is oldest in the longest conversation if it is too much."""
        self._rows += rows.size
        self._characters += rows.text
        while self._rows > self._events or self._characters > self._text:
            longest = max(self._keepers, key=lambda keeper: keeper.spare)
            if not longest.spare:
                return
            for left_out in longest.leave_out(min(_LEAVE_OUT, max(1, longest.spare // 8))):
                self._rows -= left_out.size
                self._characters -= left_out.text


class Keeper:
    """The events of one conversation that are kept. Give it all of them, in order.

    `left_out`: how many are not kept; `spare`: how many could be left out.
    """

    def __init__(self, budget: EventBudget, wanted: Iterable[int]) -> None:
        self.left_out = self.spare = 0
        self._budget = budget
        self._near = deque(_spans(wanted))
        self._pinned: list[Rows] = []
        self._tail: deque[Rows] = deque()

    def take(self, rows: Rows) -> None:
        """Keep events, at least until there is no room."""
        while rows.size:
            while self._near and self._near[0][1] < rows.seq:
                self._near.popleft()
            free = self._not_asked(rows)
            some, rows = rows.split(min(free, self._budget.room(rows)) or 1)
            if not free and self._budget.pin(some):
                self._pinned.append(some)
            else:
                self._tail.append(some)
                self.spare += some.size
            self._budget.put(some)

    def _not_asked(self, rows: Rows) -> int:
        """The number of rows, from the first on, that nobody asked for; 0 if the first was asked for."""
        if rows.place < self._budget.first:
            return 0
        return max(0, self._near[0][0] - rows.seq) if self._near else rows.size

    def leave_out(self, count: int) -> Iterator[Rows]:
        """Forget the oldest that nobody asked for, and return them."""
        self.left_out += count
        self.spare -= count
        while count:
            some, behind = self._tail.popleft().split(count)
            if behind.size:
                self._tail.appendleft(behind)
            count -= some.size
            yield some

    def rows(self) -> Iterator[Row]:
        """Rows of what was kept, in order, once: they are made now. One stands for those left out in a place."""
        kept = deque(sorted((*self._pinned, *self._tail), key=lambda rows: rows.place))
        self._pinned, self._tail = [], deque()
        before: Row | None = None
        for row in chain.from_iterable(kept.popleft().made() for _ in range(len(kept))):
            if before is not None and row.place > before.place + 1:
                head = f"{row.place - before.place - 1:,} events are left out here"
                yield Row(0, before.seq + 1, before.t, _CONTROL, "left-out", head, "", 0, "")
            yield row
            before = row


def columns_of(rows: Iterable[Row]) -> tuple[Columns, tuple[str, ...], tuple[str, ...]]:
    """Rows as columns, with the kinds and the threads that occur in them."""
    kinds: dict[str, int] = {}
    threads: dict[str, int] = {"": -1}
    columns = Columns(seq=[], t=[], ch=[], kind=[], head=[], text=[], size=[], thread=[])
    for row in rows:
        columns.seq.append(row.seq)
        columns.t.append(round(row.t, 6))
        columns.ch.append(row.ch)
        columns.kind.append(kinds.setdefault(row.kind, len(kinds)))
        columns.head.append(row.head)
        columns.text.append(row.text)
        columns.size.append(row.size)
        columns.thread.append(threads.setdefault(row.thread, len(threads) - 1))
    return columns, tuple(kinds), tuple(threads)[1:]


def _spans(wanted: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Spans of seqs around those that are wanted, in order; spans that touch are one."""
    span: tuple[int, int] | None = None
    for seq in sorted(set(wanted)):
        if span is not None and seq - KEPT_AROUND_FINDING <= span[1]:
            span = (span[0], seq + KEPT_AROUND_FINDING)
            continue
        if span is not None:
            yield span
        span = (seq - KEPT_AROUND_FINDING, seq + KEPT_AROUND_FINDING)
    if span is not None:
        yield span
