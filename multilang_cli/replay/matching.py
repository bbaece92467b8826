"""Matching of messages, now and in the recording: said again, changed, missing, new.

Pure. Nothing but what the protocol orders has an order here: messages are matched by what they say and which tuples
they answer, then by likeness.
"""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from multilang_cli.replay.said import ComparisonOptions, Said

    _Waiting = dict[Hashable, Said | deque[Said]]

ChangeKind = Literal["changed", "missing", "new", "order"]


_NOBODY: Iterator[Any] = iter(())


class MessageDifference(NamedTuple):
    """One message that is not what it was. `then` is None for one that is new, `now` for one that is missing.

    `what`: in words what changed.
    """

    change: ChangeKind
    what: str
    then: Said | None
    now: Said | None

    @property
    def place(self) -> int:
        """The event by which it is sorted: that of the recording, else that of now."""
        said = self.then or self.now
        return said.seq if said is not None else 0


class Matching(NamedTuple):
    """`compared`, `last`: see `Matcher`; `moved`: how many messages say the same in answer to another command."""

    compared: int
    last: tuple[int, int]
    moved: int
    differences: list[MessageDifference]


class Matcher:
    """Matches what was said then with what is said now, as both come: only what has no partner yet is kept.

    `compared`: messages of the recording; `last`: the greatest seq of those that have a partner, then and now.
    """

    def __init__(self, wanted: ComparisonOptions) -> None:
        self.compared = 0
        self.last = (-1, -1)
        self._wanted = wanted
        self._waiting: tuple[_Waiting, _Waiting] = ({}, {})
        self._pairs: list[tuple[Said, Said]] = []

    def take_then(self, said: Said) -> None:
        """Go on with a message of the recording."""
        self.compared += 1
        if (partner := self._partner(said, *self._waiting)) is not None:
            self._pair(said, partner)

    def take_now(self, said: Said) -> None:
        """Go on with a message of now."""
        if (partner := self._partner(said, *reversed(self._waiting))) is not None:
            self._pair(partner, said)

    @staticmethod
    def _partner(said: Said, own: _Waiting, others: _Waiting) -> Said | None:
        """The oldest that says the same in answer to the same; if there is none yet, this one waits for it."""
        key = (said.key, said.turn)
        if (found := others.pop(key, None)) is None:
            _wait(own, key, said)
            return None
        if not isinstance(found, deque):
            return found
        partner = found.popleft()
        if found:
            others[key] = found
        return partner

    def _pair(self, then: Said, now: Said) -> None:
        self.last = max(self.last[0], then.seq), max(self.last[1], now.seq)
        if "order" in self._wanted.aspects:
            self._pairs.append((then, now))

    def matching(self) -> Matching:
        """The result, once both are over."""
        wanted = self._wanted
        then_left, now_left = (_in_order(waiting) for waiting in self._waiting)
        moved, then_left, now_left = _pair(then_left, now_left, lambda said: said.key)
        for pair in moved:
            self._pair(*pair)
        differences: list[MessageDifference] = []
        for likeness in _likenesses(wanted):
            alike, then_left, now_left = _pair(then_left, now_left, likeness)
            differences += [MessageDifference("changed", _change(a, b, wanted), a, b) for a, b in alike]
        differences += [MessageDifference("missing", "it is missing now", said, None) for said in then_left]
        differences += [MessageDifference("new", "it is new", None, said) for said in now_left]
        differences += _disorder(self._pairs)
        differences.sort(key=lambda difference: difference.place)
        return Matching(self.compared, self.last, len(moved), differences)


def _wait(waiting: _Waiting, key: Hashable, said: Said) -> None:
    """Have a message wait; most are alone with what they say, and a deque of one takes ten times the room."""
    if (before := waiting.setdefault(key, said)) is said:
        return
    if not isinstance(before, deque):
        waiting[key] = before = deque((before,))
    before.append(said)


def _in_order(waiting: _Waiting) -> list[Said]:
    several = (each if isinstance(each, deque) else (each,) for each in waiting.values())
    return sorted(chain.from_iterable(several), key=lambda said: said.number)


def _pair(
    then: Iterable[Said], now: Iterable[Said], key: Callable[[Said], Hashable | None]
) -> tuple[list[tuple[Said, Said]], list[Said], list[Said]]:
    """Messages with the same key, the oldest first, and those without a partner. A key of None has none."""
    alike: defaultdict[Hashable, list[Said]] = defaultdict(list)
    pairs: list[tuple[Said, Said]] = []
    then_left: list[Said] = []
    for said in now:
        if (own := key(said)) is not None:
            alike[own].append(said)
    waiting = {own: iter(some) for own, some in alike.items()}
    for said in then:
        if (found := next(waiting.get(key(said), _NOBODY), None)) is not None:
            pairs.append((said, found))
        else:
            then_left.append(said)
    paired = {id(partner) for _, partner in pairs}
    return pairs, then_left, [said for said in now if id(said) not in paired]


def _likenesses(wanted: ComparisonOptions) -> list[Callable[[Said], Hashable | None]]:
    """Keys that make two different messages the same one, changed: the most alike first."""
    by_key: list[Callable[[Said], Hashable | None]] = []
    if wanted.key:
        by_key = [lambda said: wanted.identity(said.message) if said.what == "emit" else None]
    return [
        *by_key,
        # The same with another anchor or stream, or in a frame that is right or wrong now.
        lambda said: (said.what, said.body, said.about) if said.what == "emit" else None,
        lambda said: (said.what, said.body, said.stream) if said.what == "emit" else None,
        lambda said: (said.what, said.stream, said.about, said.turn) if said.what == "emit" else None,
        lambda said: ("settle", said.about) if said.what in {"ack", "fail"} else None,
        lambda said: (said.what, said.turn) if said.what in {"log", "error", "metrics"} else None,
    ]


def _change(then: Said, now: Said, wanted: ComparisonOptions) -> str:
    """Describe what changed in a message."""
    if then.what != now.what:
        return f"{then.what} became {now.what}"
    words: list[str] = []
    if then.fault != now.fault:
        words.append(f"its frame: {then.fault or 'right'} became {now.fault or 'right'}")
    if then.about != now.about:
        words.append(
            f"{'anchors' if then.what == 'emit' else 'tuple'}: {_numbers(then.about)} became {_numbers(now.about)}"
        )
    if then.what == "emit":
        words += _changed_fields(then.message, now.message, wanted)
    elif then.body != now.body:
        words.append("its text")
    return "; ".join(words) or "it changed"


def _numbers(about: tuple[str, ...]) -> str:
    return ", ".join(f"tuple {number}" if number != "?" else "an unknown tuple" for number in about) or "none"


def _changed_fields(then: Any, now: Any, wanted: ComparisonOptions) -> list[str]:
    words = [
        f"{name}: {getattr(then, name)!r} became {getattr(now, name)!r}"
        for name in ("stream", "task")
        if getattr(then, name) != getattr(now, name)
    ]
    if then.wants_task_ids != now.wants_task_ids and "task-ids" in wanted.aspects:
        words.append("asks for task ids" if now.wants_task_ids else "does not ask for task ids any more")
    if (then.id is None) != (now.id is None):
        words.append("has no id any more" if now.id is None else "has an id")
    if wanted.values(then) != wanted.values(now):
        words.append(_changed_values(then, now, wanted))
    return words


def _changed_values(then: Any, now: Any, wanted: ComparisonOptions) -> str:
    before, after = then.values, now.values
    if not (isinstance(before, list) and isinstance(after, list)) or len(before) != len(after):
        return "its values"
    places = [
        i
        for i, (one, other) in enumerate(zip(before, after, strict=True))
        if repr(one) != repr(other) and not wanted.is_one(then.stream, i, wanted.ignored)
    ]
    return f"value {', '.join(wanted.name(then.stream, i) for i in places)}"


def _disorder(pairs: Iterable[tuple[Said, Said]]) -> list[MessageDifference]:
    """The first emit for each tuple, or command, that comes at another place among its fellows."""
    groups: defaultdict[Hashable, list[tuple[Said, Said]]] = defaultdict(list)
    for pair in pairs:
        if pair[0].what == "emit":
            groups[pair[0].about, pair[0].turn, pair[0].stream].append(pair)
    found = []
    for group in groups.values():
        before = sorted(group, key=lambda pair: pair[0].seq)
        after = sorted(group, key=lambda pair: pair[1].seq)
        moved = next((one for one, other in zip(before, after, strict=True) if one[0].key != other[0].key), None)
        if moved is not None:
            found.append(MessageDifference("order", "it comes at another place", *moved))
    return found
