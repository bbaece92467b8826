"""Storm's groupings with Storm's results (``GrouperFactory``, ``executor.clj``): the tasks of a tuple. Pure.

Where Storm throws dice (shuffle, none), the dice are handed in; everything else is the very task that Storm would pick.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import chain, cycle, islice
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.protocol.storm.java_hash import combined_hash, java_hash, values_hash
from multilang_cli.protocol.words.rulebook import covers
from multilang_cli.topology.partial_key import candidates, candidates_before_2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from random import Random

    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.protocol.words.verdicts import StormVersion
    from multilang_cli.topology.model import Grouping

    Chooser = Callable[[Sequence[Json]], tuple[int, ...]]

LOAD_AWARE_OFF = "topology.disable.loadaware.messaging"
"""The key of conf that brings back plain round robin for shuffles."""

_RING_SIZE = 1000
_RING_FOR_EACH = 5

_WORDS, _WORD = 16_384, 64
"""Words, and characters of each, whose task is remembered: keys come again and again."""


class GroupingError(Exception):
    """Storm's collector throws at such an emit, which ends the worker. Its str is the Java exception's text."""


class ChooserContext(NamedTuple):
    """Context of a chooser, besides its grouping.

    `fields`: of the source's stream. `targets`: the consumer's task ids. `local`: those of them that live in the worker
    of the source's task. `conf`: the topology's. `random`: where dice come from. `java_tag`: the key of values
    that only Java can read, "" if there are none. `custom`: for a CUSTOM grouping, who is asked.
    """

    fields: tuple[str, ...]
    targets: tuple[int, ...]
    version: StormVersion
    random: Random
    local: tuple[int, ...] = ()
    conf: Mapping[str, Json] = {}
    java_tag: str = ""
    custom: Callable[[Sequence[Json]], tuple[int, ...]] | None = None


def chooser(grouping: Grouping, where: ChooserContext) -> Chooser | None:
    """The chooser of a grouping: it gives the task ids for the values of a tuple, as Storm has them (``java_values``).

    One for each consumer of one stream of one executor that emits, for some count; it raises GroupingError. None for
    DIRECT, where the emit names the task. Raises ValueError for a field that the stream has not, and if there are no
    targets.
    """
    targets = tuple(sorted(where.targets))
    if not targets:
        raise ValueError("a grouping needs a task to choose")
    local = tuple(sorted(where.local)) or targets
    match grouping.type:
        case "ALL" | "GLOBAL":
            chosen = targets if grouping.type == "ALL" else targets[:1]
            return lambda _: chosen
        case "NONE":
            return _anyone(targets, where.random)
        case "SHUFFLE" | "LOCAL_OR_SHUFFLE":
            return _shuffle(targets if grouping.type == "SHUFFLE" else local, local, where)
        case "FIELDS":
            return _Fields(grouping.fields, targets, where).choose
        case "PARTIAL_KEY":
            return _PartialKey(grouping.fields, targets, where).choose
        case "CUSTOM":
            if where.custom is None:
                raise ValueError("a custom grouping needs somebody to be asked")
            return where.custom
        case "DIRECT":
            return None


def _shuffle(targets: tuple[int, ...], local: tuple[int, ...], where: ChooserContext) -> Chooser:
    """As each version shuffles. Nobody is taken for overloaded: then 2.x stays in the worker while it has targets."""
    version, random = where.version.id, where.random
    if covers("<1.0", version):
        return _turns(_rounds(targets, random))
    if where.conf.get(LOAD_AWARE_OFF):
        return _turns(cycle(_shuffled(targets, random)))
    if covers("<2.0", version):
        return _anyone(targets, random)
    size = 1 if len(local) == 1 else max(_RING_SIZE, _RING_FOR_EACH * len(targets))
    return _turns(cycle(_shuffled(tuple(islice(cycle(local), size)), random)))


def _shuffled(targets: tuple[int, ...], random: Random) -> list[int]:
    return random.sample(targets, len(targets))


def _rounds(targets: tuple[int, ...], random: Random) -> Iterator[int]:
    """Every task once a round, each round in an order of its own (``acquire-random-range-id``)."""
    return chain.from_iterable(iter(lambda: _shuffled(targets, random), None))


def _anyone(targets: tuple[int, ...], random: Random) -> Chooser:
    answers = [(task,) for task in targets]
    return lambda _: random.choice(answers)


def _turns(turns: Iterator[int]) -> Chooser:
    return lambda _: (next(turns),)


class _Keyed:
    """Base of choosers that go by the values of some fields."""

    def __init__(self, by: tuple[str, ...], targets: tuple[int, ...], where: ChooserContext) -> None:
        self._indexes = tuple(where.fields.index(name) for name in by)
        self._targets = targets
        self._dialect = where.version.dialect
        self._tag = where.java_tag

    def _hash(self, value: Json) -> int:
        """``hashCode``: of a value that only Java can read, as Java has told it."""
        if self._tag and isinstance(value, dict) and self._tag in value:
            return int(value["hash"])
        return java_hash(value, self._dialect)

    def _key(self, values: Sequence[Json]) -> list[Json]:
        """``Fields.select``."""
        for index in self._indexes:
            if index >= len(values):
                raise GroupingError(f"Index {index} out of bounds for length {len(values)}")
        return [values[index] for index in self._indexes]


class _Fields(_Keyed):
    def __init__(self, by: tuple[str, ...], targets: tuple[int, ...], where: ChooserContext) -> None:
        super().__init__(by, targets, where)
        self._only = self._indexes[0] if len(self._indexes) == 1 else None
        self._of_word = lru_cache(maxsize=_WORDS)(lambda word: self._of([word]))

    def choose(self, values: Sequence[Json]) -> tuple[int, ...]:
        """The task that the values of the fields belong to; for a short word it is remembered."""
        if self._only is not None and self._only < len(values):
            word = values[self._only]
            if word.__class__ is str and len(word) <= _WORD:
                return self._of_word(word)
        return self._of(self._key(values))

    def _of(self, key: list[Json]) -> tuple[int, ...]:
        found = combined_hash(map(self._hash, key)) if self._tag else values_hash(key, self._dialect)
        return (self._targets[found % len(self._targets)],)


class _PartialKey(_Keyed):
    """Of the key's two tasks, the one to which fewer were sent; the first, if as many."""

    def __init__(self, by: tuple[str, ...], targets: tuple[int, ...], where: ChooserContext) -> None:
        super().__init__(by, targets, where)
        self._sent = [0] * len(targets)
        old = covers("<2.0", where.version.id)
        self._candidates: Callable[[bytes, int], tuple[int, int]] = candidates_before_2 if old else candidates

    def choose(self, values: Sequence[Json]) -> tuple[int, ...]:
        """Of the two tasks of a key, the one that was sent less so far."""
        hashes = [self._hash(value) for value in self._key(values)]
        key = struct.pack(f">{len(hashes)}i", *hashes)
        chosen = min(self._candidates(key, len(self._targets)), key=self._sent.__getitem__)
        self._sent[chosen] += 1
        return (self._targets[chosen],)


class Outgoing:
    """All consumers of one stream, in their order (``Task.getOutgoingTasks``)."""

    def __init__(self, consumers: Mapping[str, tuple[tuple[int, ...], Chooser | None]]) -> None:
        """`consumers`: by component, its task ids and the chooser among them, None for DIRECT. Those with tasks."""
        self._choosers = [chooser for _, chooser in consumers.values()]
        self._component = {task: name for name, (tasks, _) in consumers.items() for task in tasks}
        self._direct = {name for name, (_, chooser) in consumers.items() if chooser is None}
        first = self._choosers[0] if len(self._choosers) == 1 else None
        self.tasks = first or self._tasks
        """Gives the task ids for an emit that names no task, by its values. Raises GroupingError."""

    def _tasks(self, values: Sequence[Json]) -> tuple[int, ...]:
        found: tuple[int, ...] = ()
        for each in self._choosers:
            if each is None:
                raise GroupingError("Cannot do regular emit to direct stream")
            found += each(values)
        return found

    def direct(self, task: int) -> tuple[int, ...]:
        """The task ids for a direct emit: none if that task does not consume the stream. Raises GroupingError."""
        component = self._component.get(task)
        if component is None:
            return ()
        if component not in self._direct:
            raise GroupingError("Cannot emitDirect to a task expecting a regular grouping")
        return (task,)
