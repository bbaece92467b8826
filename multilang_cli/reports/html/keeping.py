"""Events of long conversations that stand on a page: the first, those around findings, the last. Bounded memory."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.reports.html.document import CHANNELS, Columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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

    def pin(self, row: Row) -> bool:
        """True if there is room to keep `row` in any case."""
        if self._pinned_rows >= self._events // 2 or self._pinned_characters >= self._text // 2:
            return False
        self._pinned_rows += 1
        self._pinned_characters += len(row.text)
        return True

    def put(self, row: Row) -> None:
        """Take note of a row that is kept; leave out what is oldest in the longest conversation if it is too much."""
        self._rows += 1
        self._characters += len(row.text)
        while self._rows > self._events or self._characters > self._text:
            longest = max(self._keepers, key=Keeper.spare)
            if not longest.spare():
                return
            left_out = longest.leave_out(min(_LEAVE_OUT, max(1, longest.spare() // 8)))
            self._rows -= len(left_out)
            self._characters -= sum(len(row.text) for row in left_out)


class Keeper:
    """The events of one conversation that are kept. Give it all of them, in order."""

    def __init__(self, budget: EventBudget, wanted: Iterable[int]) -> None:
        self.left_out = 0
        self._budget = budget
        self._near = deque(_spans(wanted))
        self._pinned: list[Row] = []
        self._tail: deque[Row] = deque()

    def take(self, row: Row) -> None:
        """Keep an event, at least until there is no room."""
        while self._near and self._near[0][1] < row.seq:
            self._near.popleft()
        asked = row.place < self._budget.first or bool(self._near and self._near[0][0] <= row.seq)
        (self._pinned if asked and self._budget.pin(row) else self._tail).append(row)
        self._budget.put(row)

    def spare(self) -> int:
        """The number of events that could be left out."""
        return len(self._tail)

    def leave_out(self, count: int) -> list[Row]:
        """Forget the oldest that nobody asked for, and return them."""
        self.left_out += count
        return [self._tail.popleft() for _ in range(count)]

    def rows(self) -> Iterator[Row]:
        """Rows of what was kept, in order; one row stands for those that are left out in a place."""
        before: Row | None = None
        for row in sorted((*self._pinned, *self._tail)):
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
