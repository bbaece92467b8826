"""Align the emissions of one task on a stream with the tuples that another received. Pure.

Storm keeps the order between two tasks, so what was received is what was sent, less what was lost. Values tell where:
both sides are given as hashes of the values, in order. A tuple that can stand in one place only, however early or late
the others are put, is certain.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.audit.marks import CERTAIN, HIGH, LOW

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

EQUAL_IN_A_ROW = 8
"""So many equal ones in a row are looked at to tell where both sides are in step again."""
MOST_EQUAL = 64
"""So many equal ones of which some were lost are told apart by what became of them, at most."""
FARTHEST = 4096
"""So many lost in a row are searched through."""


class Pair(NamedTuple):
    """Places of an emission and of the tuple that it became; how much doubt there is."""

    sent: int
    got: int
    doubt: int


class Aligned(NamedTuple):
    """`pairs`, in order. `lost`: the places of emissions in no pair, with how much doubt there is of that.

    These were lost, are under way, or their tuples were not recorded. `equals`: of emissions that have the same values,
    of which some were lost and nobody knows which, the place of the first that is taken for lost, by the place of each.
    """

    pairs: list[Pair]
    lost: dict[int, int]
    equals: dict[int, int]


def align(sent: Sequence[int], got: Sequence[int], *, whole: bool = True) -> Aligned:
    """Align what was sent with what was received.

    Never certain if the recording has gaps (`whole` is False), nor, but for values that stand once on either side, if
    something was received that was not sent. Low where what was lost could as well have been a neighbour.
    """
    if (first := _earliest(sent, got)) is None:
        pairs = _with_strangers(sent, got, whole=whole)
        return Aligned(pairs, dict.fromkeys(_left_over(sent, pairs), LOW), {})
    mirrored = _earliest(sent[::-1], got[::-1])
    assert mirrored is not None  # noqa: S101 (it is a part, read either way)
    last = array("q", (len(sent) - 1 - place for place in reversed(mirrored)))
    sure = CERTAIN if whole else HIGH
    pairs = _edges_doubted(_in_between(sent, got, first, last))
    for number, pair in enumerate(pairs):
        if first[pair.got] == last[pair.got]:
            pairs[number] = pair._replace(doubt=sure)
    left = _left_over(sent, pairs)
    by_value: dict[int, list[int]] = {sent[place]: [] for place in left}
    for of, value in enumerate(got):
        if value in by_value:
            by_value[value].append(of)

    def may_be_there(place: int) -> bool:
        """True if a message that is equal may have been taken at this place."""
        equal = by_value[sent[place]]
        next_ = bisect_left(equal, place, key=last.__getitem__)
        return next_ < len(equal) and first[equal[next_]] <= place

    lost = {place: LOW if may_be_there(place) else sure for place in left}
    spans: dict[int, list[tuple[int, int, int]]] = {}
    for place in left:
        spans.setdefault(sent[place], []).append((place, place, place))
    for of, value in enumerate(got):
        if value in spans:
            spans[value].append((first[of], last[of], pairs[of].sent))
    return Aligned(pairs, lost, dict(_equals(spans.values(), lost)))


def _equals(spans: Iterable[list[tuple[int, int, int]]], lost: Container[int]) -> Iterator[tuple[int, int]]:
    """See `Aligned`. `spans`: of equal emissions the first and last place that each may have, and that which it has."""
    for each in spans:
        for places in _overlapping(sorted(each)):
            gone = [place for place in places if place in lost]
            if gone and len(gone) < len(places) <= MOST_EQUAL:
                yield from ((place, min(gone)) for place in places)


def _overlapping(spans: Iterable[tuple[int, int, int]]) -> Iterator[list[int]]:
    """The places of spans that overlap, together; `spans` in order."""
    together: list[int] = []
    until = -1
    for begin, end, place in spans:
        if together and begin > until:
            yield together
            together = []
        together.append(place)
        until = max(until, end)
    yield together


def _left_over(sent: Sequence[int], pairs: list[Pair]) -> list[int]:
    paired = bytearray(len(sent))
    for pair in pairs:
        paired[pair.sent] = True
    return [place for place, known in enumerate(paired) if not known]


def _earliest(sent: Sequence[int], got: Sequence[int]) -> array[int] | None:
    """The first place where each can stand, if all that was received was sent; else None."""
    found = array("q")
    places = iter(enumerate(sent))
    for value in got:
        place = next((place for place, other in places if other == value), None)
        if place is None:
            return None
        found.append(place)
    return found


def _in_between(sent: Sequence[int], got: Sequence[int], first: Sequence[int], last: Sequence[int]) -> list[Pair]:
    """Each next to the one before it, as long as that can be; else where most that follow fit."""
    pairs: list[Pair] = []
    at = run = 0
    for of, value in enumerate(got):
        doubt = HIGH
        if not (at <= last[of] and at >= first[of] and sent[at] == value):
            place, alone = _best(sent, got, of, (max(at, first[of]), last[of]))
            _doubt_before(pairs, run, sent, place - at)
            at, run = place, of
            doubt = HIGH if alone else LOW
        pairs.append(Pair(at, of, doubt))
        at += 1
    if at < len(sent):
        _doubt_before(pairs, run, sent, len(sent) - at)
    return pairs


def _edges_doubted(pairs: list[Pair]) -> list[Pair]:
    """The few next to a loss may fit by chance."""
    found: list[Pair] = []
    start = 0
    for end in range(1, len(pairs) + 1):
        if end < len(pairs) and pairs[end].sent == pairs[end - 1].sent + 1:
            continue
        begin, stop = start + EQUAL_IN_A_ROW * (start > 0), end - EQUAL_IN_A_ROW
        found += [
            pair if begin <= at < stop else pair._replace(doubt=LOW) for at, pair in enumerate(pairs[start:end], start)
        ]
        start = end
    return found


def _best(sent: Sequence[int], got: Sequence[int], of: int, places: tuple[int, int]) -> tuple[int, bool]:
    """The place where most of those that follow fit as well, and if no other place is as good."""
    low, high = places
    fits = [
        (_fitting(sent, place, got, of), -place)
        for place in range(low, min(high, low + FARTHEST) + 1)
        if sent[place] == got[of]
    ]
    if not fits:
        return high, high == low
    best = max(fits)
    return -best[1], sum(count == best[0] for count, _ in fits) == 1


def _fitting(sent: Sequence[int], at: int, got: Sequence[int], of: int) -> int:
    count = 0
    for one, other in zip(sent[at : at + EQUAL_IN_A_ROW], got[of : of + EQUAL_IN_A_ROW], strict=False):
        if one != other:
            break
        count += 1
    return count


def _doubt_before(pairs: list[Pair], begun: int, sent: Sequence[int], lost: int) -> None:
    """The loss may have been earlier, as long as what stands there is equal to what stands behind the loss."""
    for place in range(len(pairs) - 1, begun - 1, -1):
        at = pairs[place].sent
        if sent[at] != sent[at + lost]:
            return
        pairs[place] = pairs[place]._replace(doubt=LOW)


# --- what was received has strangers in it: the sender's recording lacks something ----------------------------------


def _with_strangers(sent: Sequence[int], got: Sequence[int], *, whole: bool) -> list[Pair]:
    often_sent, often_got = Counter(sent), Counter(got)
    pairs: list[Pair] = []
    at = of = 0
    while of < len(got) and at < len(sent):
        if sent[at] == got[of]:
            once = often_sent[sent[at]] == often_got[got[of]] == 1
            pairs.append(Pair(at, of, CERTAIN if whole and once else HIGH))
            at, of = at + 1, of + 1
            continue
        lost, unknown = _next_step(sent, got, at, of)
        at, of = at + lost, of + unknown
    return pairs


def _next_step(sent: Sequence[int], got: Sequence[int], at: int, of: int) -> tuple[int, int]:
    """Count those lost, or received from nowhere, until both are in step again; all of both, if they never are."""
    farthest = max(len(sent) - at, len(got) - of)
    for shift in range(1, min(farthest, FARTHEST) + 1):
        if _equal(sent, at + shift, got, of):
            return shift, 0
        if _equal(sent, at, got, of + shift):
            return 0, shift
    return 1, 1


def _equal(sent: Sequence[int], at: int, got: Sequence[int], of: int) -> bool:
    count = min(EQUAL_IN_A_ROW, len(sent) - at, len(got) - of)
    return count > 0 and sent[at] == got[of] and sent[at : at + count] == got[of : of + count]
