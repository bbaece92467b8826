"""Lines as they come, put into the order in which they were written, which their numbers tell. Pure.

Who ships a recording may send a line twice, or one before another. What comes too early waits for what is missing, up
to `WINDOW` lines; what was passed already is a second copy, or comes too late for its place.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from hashlib import sha256
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from multilang_cli.protocol.words.shortening import ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from multilang_cli.transcript.format import EventLine

WINDOW = 1024
"""Lines of a conversation that wait for one before them, at most."""
WAITING_BYTES = 16 * 1024 * 1024
"""Bytes of the lines of a file that wait, at most."""
REMEMBERED_LINES = 65_536
"""Lines of a file that are remembered, to be compared with one that stands there again, unless they are too large."""
REMEMBERED_BYTES = 2 * 1024 * 1024
"""Bytes of the lines that are remembered; up to twice as many are kept."""
MOST_HOLES = 1024
"""Runs of missing numbers of a conversation that are remembered."""
SHORT_LINE = 4096
"""Bytes of a line that is remembered as it stands; of a longer one its digest is."""
_SHOWN_OF_CONV = 100
_LARGEST = 2**63
_TOLD = {
    "again": ("a line stands twice; it counts once", "{} lines stand twice; each counts once"),
    "assumed": (
        "a line has a number that was read long before; it counts as a second copy, but could not be compared",
        "{} lines have numbers that were read long before; they count as second copies, but could not be compared",
    ),
    "swapped": (
        "a line came behind a later one; it was put in order by its number",
        "{} lines came behind later ones; they were put in order by their numbers",
    ),
    "late": (
        f"a line came more than {WINDOW} lines behind its place; it is left out, and counts as missing",
        f"{{}} lines came more than {WINDOW} lines behind their places; they are left out, and count as missing",
    ),
}
Shift = Literal["again", "assumed", "swapped", "late"]


class PlacedLine(NamedTuple):
    """A line of a file without its newline, with its number in it, from 1, and the byte where it begins."""

    line: EventLine
    text: bytes
    number: int
    byte: int


class Shipped(msgspec.Struct, frozen=True):
    """A line of `conv` to which something happened on its way, and which one.

    It stands there `again`, or is `assumed` to; it was `swapped`, and comes next; it is too `late`, and left out.
    """

    conv: str
    shift: Shift


class Contradiction(NamedTuple):
    """A line with the number of another, which says something else."""

    placed: PlacedLine


SortedLine = PlacedLine | Shipped | Contradiction


class ShippedLines:
    """Counts of such lines, by conversation."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, Shift], int] = {}

    def count(self, line: Shipped) -> None:
        """Count it."""
        key = line.conv, line.shift
        self._counts[key] = self._counts.get(key, 0) + 1

    def notes(self) -> list[str]:
        """Sentences on them."""
        return [
            f"{ends(conv, _SHOWN_OF_CONV)}: {_TOLD[shift][count > 1].format(count)}"
            for (conv, shift), count in self._counts.items()
        ]


class _Order:
    """The place up to which a conversation was read. `next`: the number that comes next, None if that is not known.

    `early`: lines that came before it, `waiting`: their numbers in order; `marks`: marks of lines that did not come
    yet; `end`: the end, if that came before some; `waits`: there is one of these. `lines`: how many of this part were
    passed; hashes: `marked`, of the last marks, `headers`, and `ended`, of the part's end.
    """

    def __init__(self) -> None:
        self.next: int | None = None
        self.lines = 0
        self.early: dict[int, PlacedLine] = {}
        self.waiting: list[int] = []
        self.marks: dict[int, PlacedLine] = {}
        self.marked: dict[int, int] = {}
        self.end: PlacedLine | None = None
        self.waits = False
        self.headers: set[int] = set()
        self.ended: int | None = None
        self._holes: list[tuple[int, int]] = []

    def advance(self, seq: int, count: int) -> None:
        """Pass so many lines, from the number `seq` on."""
        since = self.next or 0
        if seq > since:
            self._holes.append((since, seq - 1))
            if len(self._holes) > MOST_HOLES:
                self._holes[:2] = [(self._holes[0][0], self._holes[1][1])]
        self.next = seq + count
        self.lines += count

    def has_left_out(self, seq: int) -> bool:
        """True if lines behind this one were passed, and not itself."""
        place = bisect_right(self._holes, (seq, _LARGEST)) - 1
        return place >= 0 and seq <= self._holes[place][1]


class LineOrder:
    """The lines of a file in order, those of each conversation for themselves."""

    def __init__(self) -> None:
        self._orders: dict[str, _Order] = {}
        self._remembered = _RememberedLines()
        self._waiting: dict[str, None] = {}
        self._bytes = 0

    def begin(self, conv: str, part: int, text: bytes) -> None:
        """Know that a part begins, with this header."""
        order = self._orders.get(conv)
        if order is None or part == 1:
            if order is not None:
                self._remembered.forget(conv)
            self._orders[conv] = order = _Order()
            order.next = 0 if part == 1 else None
        order.lines, order.ended = 0, None
        order.headers.add(hash(text))

    def is_next(self, conv: str, seq: int) -> bool:
        """True if a frame's line has the number that comes next, and none waits for it."""
        order = self._orders.get(conv)
        return order is not None and (order.next == seq or order.next is None) and not order.waits

    def take(self, conv: str, seq: int, count: int, texts: bytes) -> None:
        """Pass lines that come next, and follow each other."""
        self._orders[conv].advance(seq, count)
        self._remembered.add(conv, seq, count, texts)

    def take_next(self, line: EventLine, text: bytes) -> bool:
        """Pass the line of an event if it comes next, and none waits for it; False if not."""
        order = self._orders.get(line.conv)
        if order is None or line.seq != order.next or order.waits or (line.ch == "control" and _is_mark(line)):
            return False
        order.next += 1
        order.lines += 1
        self._remembered.add(line.conv, line.seq, 1, text if len(text) <= SHORT_LINE else _kept(text))
        return True

    def sort(self, placed: PlacedLine) -> Iterable[SortedLine]:
        """Give what comes next, now that this line has come, and tell what happened to it on its way."""
        line, order = placed.line, self._orders.get(placed.line.conv)
        if order is None:
            return (placed,)
        if line.transcript is not None or line.end is not None:
            return self._sort_bound(line.conv, order, placed)
        if line.seq < 0:
            return (placed,)
        if line.ch == "control" and _is_mark(line):
            return self._sort_mark(line.conv, order, placed)
        return self._sort_event(line, order, placed)

    def _sort_event(self, line: EventLine, order: _Order, placed: PlacedLine) -> Iterator[SortedLine]:
        if order.next is None or line.seq == order.next:
            if order.waiting:
                yield Shipped(line.conv, "swapped")
            yield self._passed(order, placed)
            yield from self._marked(order, line.seq)
            yield from self._following(line.conv, order, line.seq + 1)
        elif line.seq > order.next:
            yield from self._wait(line.conv, order, placed)
        else:
            yield self._passed_before(order, placed)

    def rest(self) -> Iterator[PlacedLine]:
        """Give all that waits: nothing more comes."""
        for conv in list(self._waiting):
            yield from self._rest_of(conv, self._orders[conv])

    def _sort_bound(self, conv: str, order: _Order, placed: PlacedLine) -> Iterable[SortedLine]:
        """A header, or an end."""
        known, is_end = hash(placed.text), placed.line.end is not None
        if known == order.ended or known in order.headers or (order.end and order.end.text == placed.text):
            return (Shipped(conv, "again"),)
        if is_end and order.end is None and _counted(placed) > order.lines:
            order.end = placed
            self._let_wait(conv, order, placed)
            return ()
        order.ended = known
        return (*self._rest_of(conv, order), placed) if order.waits else (placed,)

    def _sort_mark(self, conv: str, order: _Order, placed: PlacedLine) -> Iterator[SortedLine]:
        """A mark of a line in which something is hidden: it has its number, and comes behind it."""
        seq = placed.line.seq
        if order.next is not None and seq >= order.next:
            if (known := order.marks.setdefault(seq, placed)) is not placed:
                yield Shipped(conv, "again") if known.text == placed.text else Contradiction(placed)
                return
            self._let_wait(conv, order, placed)
        elif order.has_left_out(seq):
            yield Shipped(conv, "late")
        elif order.marked.get(seq) == hash(placed.text):
            yield Shipped(conv, "again")
        else:
            yield self._passed_mark(order, placed)

    def _wait(self, conv: str, order: _Order, placed: PlacedLine) -> Iterator[SortedLine]:
        """An event that comes too early."""
        seq = placed.line.seq
        if (known := order.early.get(seq)) is not None:
            yield Shipped(conv, "again") if known.text == placed.text else Contradiction(placed)
            return
        if order.waiting and seq < order.waiting[-1]:
            yield Shipped(conv, "swapped")
        insort(order.waiting, seq)
        order.early[seq] = placed
        self._let_wait(conv, order, placed)
        if len(order.waiting) > WINDOW:
            yield from self._following(conv, order, order.waiting[0])
        while self._bytes > WAITING_BYTES:
            longest = next(iter(self._waiting))
            yield from self._rest_of(longest, self._orders[longest])

    def _let_wait(self, conv: str, order: _Order, placed: PlacedLine) -> None:
        self._waiting[conv] = None
        order.waits = True
        self._bytes += len(placed.text)

    def _passed_before(self, order: _Order, placed: PlacedLine) -> SortedLine:
        """An event whose number was passed."""
        conv, seq = placed.line.conv, placed.line.seq
        if order.has_left_out(seq):
            return Shipped(conv, "late")
        known = self._remembered.find(conv, seq)
        if known is None:
            return Shipped(conv, "assumed")
        return Shipped(conv, "again") if known == _kept(placed.text) else Contradiction(placed)

    def _passed(self, order: _Order, placed: PlacedLine) -> PlacedLine:
        order.advance(placed.line.seq, 1)
        self._remembered.add(placed.line.conv, placed.line.seq, 1, _kept(placed.text))
        return placed

    def _passed_mark(self, order: _Order, placed: PlacedLine) -> PlacedLine:
        order.lines += 1
        order.marked[placed.line.seq] = hash(placed.text)
        if len(order.marked) > REMEMBERED_LINES:
            del order.marked[next(iter(order.marked))]
        return placed

    def _marked(self, order: _Order, seq: int) -> Iterator[PlacedLine]:
        if (mark := order.marks.pop(seq, None)) is not None:
            self._bytes -= len(mark.text)
            yield self._passed_mark(order, mark)

    def _following(self, conv: str, order: _Order, seq: int) -> Iterator[PlacedLine]:
        """Lines that waited, from this number on, up to the next that is missing."""
        # A mark of a line that does not come says nothing.
        for lost in [number for number in order.marks if number < seq]:
            self._bytes -= len(order.marks.pop(lost).text)
        while (placed := order.early.pop(seq, None)) is not None:
            del order.waiting[0]
            self._bytes -= len(placed.text)
            yield self._passed(order, placed)
            yield from self._marked(order, seq)
            seq += 1
        if not order.waiting and not order.marks:
            if order.end is not None and order.lines >= _counted(order.end):
                yield from self._ended(order)
            order.waits = order.end is not None
            if not order.waits:
                self._waiting.pop(conv, None)

    def _rest_of(self, conv: str, order: _Order) -> Iterator[PlacedLine]:
        while order.waiting:
            yield from self._following(conv, order, order.waiting[0])
        yield from self._following(conv, order, _LARGEST)
        yield from self._ended(order)
        order.waits = False
        self._waiting.pop(conv, None)

    def _ended(self, order: _Order) -> Iterator[PlacedLine]:
        if order.end is not None:
            end, order.end = order.end, None
            self._bytes -= len(end.text)
            order.ended = hash(end.text)
            yield end


class _RememberedLines:
    """The lines of a file that came last: runs of numbers that follow each other, with their texts."""

    def __init__(self) -> None:
        self._new: dict[str, list[tuple[int, int, bytes]]] = {}
        self._old: dict[str, list[tuple[int, int, bytes]]] = {}
        self._lines = self._bytes = 0

    def add(self, conv: str, seq: int, count: int, texts: bytes) -> None:
        """Remember lines. One that comes alone is given as `_kept` gives it."""
        self._new.setdefault(conv, []).append((seq, count, texts))
        self._lines += count
        self._bytes += len(texts)
        if self._lines >= REMEMBERED_LINES or self._bytes >= REMEMBERED_BYTES:
            self._old, self._new = self._new, {}
            self._lines = self._bytes = 0

    def find(self, conv: str, seq: int) -> bytes | None:
        """Find a line, as `_kept` gives it; None if it is not remembered."""
        for runs in (self._new.get(conv), self._old.get(conv)):
            if runs and (place := bisect_right(runs, seq, key=itemgetter(0))):
                first, count, texts = runs[place - 1]
                if seq < first + count:
                    return texts if count == 1 else _kept(texts.split(b"\n", seq - first + 1)[seq - first])
        return None

    def forget(self, conv: str) -> None:
        """Forget those of a conversation: another begins with its id."""
        self._new.pop(conv, None)
        self._old.pop(conv, None)


def _is_mark(line: EventLine) -> bool:
    """True for a mark of a line in which something is hidden: it has that line's number."""
    return b'"redacted"' in bytes(line.msg)


def _counted(end: PlacedLine) -> int:
    """The number of events that an end tells of."""
    return sum(end.line.end.events.values()) if end.line.end is not None else 0


def _kept(text: bytes) -> bytes:
    """The line, or its digest if it is long: enough to find it again."""
    return text if len(text) <= SHORT_LINE else sha256(text).digest()
