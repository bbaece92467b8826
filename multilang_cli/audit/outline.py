"""Beginnings and ends of conversations in files: enough to tell of any line which part of which one it is. Pure.

Headers and ends are few, so all of them are known before the events are read: an event then needs no line but its own.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import chain, groupby, islice
from operator import lt
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.audit.inputs import is_url, named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

QUOTED = 100
"""Characters of a conversation's id that a reason shows."""
AGAIN = "a second copy of"
"""How the reason begins where a line is well, but stands there once more."""
COPY = f"{AGAIN} part"
LINE = f"{AGAIN} line"
"""Of a line that was shipped twice, and of one in a file that was."""
REMEMBERED = 65_536
"""Lines of a conversation, at least, with which one that stands twice is compared."""
ASSUMED = f"{AGAIN} event"
"""Of a line with a number that was read longer ago."""
MOST_HOLES = 1024
"""Runs of missing numbers of a conversation that are remembered."""
_NEVER = 2**63


class Size(NamedTuple):
    """A piece of a file that one task reads: where it begins, and its lines. Files are named by their URIs."""

    file: str
    split: int
    lines: int


class Head(NamedTuple):
    """A header: its place (`nth` in the piece, from 1), and what tells recordings of one id apart."""

    file: str
    split: int
    nth: int
    conv: str
    part: int
    started: float | None
    worker: str
    host: str
    topology: str
    component: str
    task: int


class PartEnd(NamedTuple):
    """A line that closes a part, and its place; `counted`: the events that it tells of."""

    file: str
    split: int
    nth: int
    conv: str
    counted: int


class Piece(NamedTuple):
    """Lines of one part, from `line` on. `key`: the conversation's id here; `copy`: why they do not count, else "".

    `goes_on`: no header begins it, for what stands before it is a copy of one.
    """

    line: int
    key: str
    part: int
    copy: str
    goes_on: bool = False


class Outline(NamedTuple):
    """`before`: the lines of a file before each piece of it; `pieces`: by file and id, in the order of lines.

    `closed`: by key and part that was closed, the events that its end tells of. `lines`, `told`: by file, all its
    lines, and its headers and ends that count. `began`: of each conversation, by its key, the topology and when it
    began.
    """

    before: dict[tuple[str, int], int]
    pieces: dict[str, dict[str, list[Piece]]]
    closed: dict[tuple[str, int], int]
    lines: dict[str, int]
    told: dict[str, tuple[int, int]]
    began: dict[str, tuple[str, float | None]]


class _Placed(NamedTuple):
    """A header with its line, its file's lines, and which recording of its id it is of."""

    head: Head
    line: int
    all: int


def outline(sizes: Iterable[Size], heads: Iterable[Head], ends: Iterable[PartEnd]) -> Outline:
    """The outline of files."""
    before, lines = _counted(sizes)
    placed = [_Placed(head, before[head.file, head.split] + head.nth, lines[head.file]) for head in heads]
    pieces: dict[str, dict[str, list[Piece]]] = {}
    began: dict[str, tuple[str, float | None]] = {}
    for conv, same in groupby(sorted(placed, key=lambda each: each.head.conv), lambda each: each.head.conv):
        for head, piece in _pieces(conv, list(same)):
            pieces.setdefault(head.file, {}).setdefault(conv, []).append(piece)
            began.setdefault(piece.key, (head.topology, head.started))
    for by_conv in pieces.values():
        for each in by_conv.values():
            each.sort()
    closed = {}
    told = {
        file: (sum(not (piece.copy or piece.goes_on) for each in of.values() for piece in each), 0)
        for file, of in pieces.items()
    }
    for end in ends:
        found = Finder(pieces.get(end.file, {})).at(end.conv, before[end.file, end.split] + end.nth)
        if found is not None and not found.copy:
            headers, ended = told[end.file]
            told[end.file] = headers, ended + 1
            closed[found.key, found.part] = end.counted
    return Outline(before, pieces, closed, lines, told, began)


def _counted(sizes: Iterable[Size]) -> tuple[dict[tuple[str, int], int], dict[str, int]]:
    before: dict[tuple[str, int], int] = {}
    lines: dict[str, int] = {}
    for size in sorted(sizes):
        before[size.file, size.split] = lines.get(size.file, 0)
        lines[size.file] = lines.get(size.file, 0) + size.lines
    return before, lines


def _pieces(conv: str, placed: list[_Placed]) -> Iterable[tuple[Head, Piece]]:
    """The pieces of all conversations of an id, each with its header, those of each in the order of its parts.

    A part that stands in several files was copied; the longest file counts, of equal ones the first by name. Several
    recordings may have one id: they are numbered as they began.
    """
    recordings = {_recording(each.head) for each in placed}
    numbers = {recording: number for number, recording in enumerate(sorted(recordings), 1)}

    def of(each: _Placed) -> tuple[int, int]:
        """The number of the recording, and that of the part."""
        return numbers[_recording(each.head)], each.head.part

    placed.sort(key=lambda each: (of(each), -each.all, named(each.head.file), each.line))
    for (number, part), copies in groupby(placed, of):
        best, split = "", 0
        key = conv if number == 1 else f"{conv}#{number}"
        for each in copies:
            file = named(each.head.file)
            copy = f"{COPY} {part} of '{conv[:QUOTED]}'; the one that counts stands in {best}" if best else ""
            yield each.head, Piece(each.line, key, part, copy)
            if file == best and (each.head.split == split or not is_url(file)):
                # Lines were shipped twice: those behind it tell by their numbers whether they are new.
                yield each.head, Piece(each.line + 1, key, part, "", goes_on=True)
            if not best:
                best, split = file, each.head.split


def _recording(head: Head) -> tuple[object, ...]:
    """Identity that all parts of a recording share. One that does not say when it began is told apart by its file."""
    when = (0, 0.0, named(head.file)) if head.started is None else (1, head.started, "")
    return (*when, head.worker, head.host, head.topology, head.component, head.task)


class _Run(NamedTuple):
    """Lines that follow each other, from `line` on, each with a larger number than the one before; their hashes."""

    seqs: list[int]
    told: list[int]
    line: int


class _Remembered(NamedTuple):
    """Lines that were seen: by conversation those that came together, runs in the order of their numbers; the others.

    Of each its hash, and its line.
    """

    runs: dict[str, list[_Run]]
    others: dict[tuple[str, int], tuple[int, int]]

    def find(self, conv: str, seq: int) -> tuple[int, int]:
        """The hash and the line of an event; zeros for none."""
        runs = self.runs.get(conv, [])
        place = bisect_right(runs, seq, key=lambda run: run.seqs[0])
        if place:
            run = runs[place - 1]
            at = bisect_left(run.seqs, seq)
            if at < len(run.seqs) and run.seqs[at] == seq:
                return run.told[at], run.line + at
        return self.others.get((conv, seq), (0, 0))


class _Passed:
    """Numbers of a conversation up to the largest that was seen, `top`: those that were not are its holes."""

    def __init__(self) -> None:
        self.top = -1
        self._holes: list[tuple[int, int]] = []

    def go_on(self, seqs: Sequence[int]) -> None:
        """Take larger numbers, in order."""
        if seqs[-1] - self.top > len(seqs):
            before = chain((self.top,), seqs)
            self._holes += [(one + 1, two - 1) for one, two in zip(before, seqs, strict=False) if two > one + 1]
            if len(self._holes) > MOST_HOLES:
                # Of all but the last ones it is not known any more which were seen.
                self._holes[: -MOST_HOLES + 1] = [(0, self._holes[-MOST_HOLES][1])]
        self.top = seqs[-1]

    def has(self, seq: int) -> bool:
        """True if that number was seen for certain, in its order."""
        place = bisect_right(self._holes, (seq, _NEVER)) - 1
        return seq <= self.top and (place < 0 or seq > self._holes[place][1])


class SeenLines:
    """Lines of conversations that were seen: a shipper may send some twice."""

    def __init__(self) -> None:
        self._passed: dict[str, _Passed] = {}
        self._new = _Remembered({}, {})
        self._old = _Remembered({}, {})
        self._kept = 0

    def before(self, conv: str, seq: int, text: bytes, line: int) -> int | None:
        """The line with the same number, negative if it says something else; 0 if there is none: this is remembered.

        None if there is one, so long ago that nobody knows what it says.
        """
        told = hash(text)
        passed = self._passed.setdefault(conv, _Passed())
        if seq <= passed.top:
            for known in (self._new, self._old):
                has, same = known.find(conv, seq)
                if same:
                    return same if has == told else -same
            if passed.has(seq):
                return None
        else:
            passed.go_on((seq,))
        self._new.others[conv, seq] = told, line
        self._count(1)
        return 0

    def take_all(self, conv: str, seqs: list[int], texts: Sequence[bytes], line: int) -> bool:
        """Remember lines that follow each other, none of which can have been seen; False if one may have been."""
        passed = self._passed.setdefault(conv, _Passed())
        if seqs[0] <= passed.top or not all(map(lt, seqs, islice(seqs, 1, None))):
            return False
        passed.go_on(seqs)
        self._new.runs.setdefault(conv, []).append(_Run(seqs, list(map(hash, texts)), line))
        self._count(len(seqs))
        return True

    def _count(self, lines: int) -> None:
        self._kept += lines
        if self._kept >= REMEMBERED:
            self._old, self._new, self._kept = self._new, _Remembered({}, {}), 0


class Finder:
    """Finds the part that a line of a file is of. It remembers the last: most lines are of the part before them.

    `seen`: the lines that were.
    """

    def __init__(self, pieces: Mapping[str, list[Piece]]) -> None:
        self.seen = SeenLines()
        self._pieces = pieces
        self._conv: str | None = None
        self._piece: Piece | None = None
        self._since = self._until = 0

    def at(self, conv: str, line: int) -> Piece | None:
        """The part of `conv` that this line is of; None if none has begun."""
        if conv != self._conv or not self._since <= line < self._until:
            mine = self._pieces.get(conv, [])
            place = bisect_right(mine, line, key=lambda piece: piece.line)
            self._conv = conv
            self._piece = mine[place - 1] if place else None
            self._since = mine[place - 1].line if place else 0
            self._until = mine[place].line if place < len(mine) else _NEVER
        return self._piece

    def at_all(self, convs: Collection[str], line: int) -> Piece | None:
        """The part that so many lines are of, from this one on; None unless it is the same for all, and counts."""
        if len(set(convs)) > 1:
            return None
        piece = self.at(next(iter(convs)), line)
        return piece if piece is not None and not piece.copy and line + len(convs) <= self._until else None
