"""Tasks that an emit goes to, as far as the component can see it: the task ids that Storm answers with.

One emit goes to every consumer of its stream; the ids are those of each consumer in turn. The choice within a consumer
is by its grouping's kind, in Storm's sense but not with Storm's random numbers: a component must not care.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.protocol.words.messages import TaskIds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.messages import Emit
    from multilang_cli.protocol.words.verdicts import Profile, StreamSpec

NONE = TaskIds([])
"""The answer to an emit that goes nowhere."""


class Router:
    """Chooses target tasks for emits of one component. Round robin for shuffles, by value for fields groupings."""

    def __init__(self, profile: Profile) -> None:
        fallback = min((task for task in profile.tasks if task > profile.task), default=profile.task + 1)
        # A testee tells the task ids of an emit, so those of the next one must be others.
        undeclared = (_sinks(profile) if profile.testee else ()) or (fallback,)
        consumed = profile.streams is None and not profile.unconsumed
        self._undeclared = _choice(undeclared).ready if consumed else ()
        self._choices = {name: _choices_of(spec) for name, spec in (profile.streams or {}).items()}
        # Most streams have one consumer, any task of which will do.
        self._ready = {name: each[0].ready for name, each in self._choices.items() if len(each) == 1}
        self._turn = 0

    def answer(self, emit: Emit) -> TaskIds:
        """The task ids to answer with; none where nobody consumes the stream or Storm would refuse the emit."""
        if ready := self._ready.get(emit.stream, self._undeclared):
            self._turn = turn = self._turn + 1
            return ready[turn % len(ready)]
        choices = self._choices.get(emit.stream)
        if not choices:
            return NONE
        self._turn = turn = self._turn + 1
        return TaskIds([task for choice in choices for task in choice.of(emit, turn)])

    def answers(self, emits: Sequence[Emit]) -> list[TaskIds]:
        """As `answer` gives for each: at once, where all are on one stream and any task of its consumer will do."""
        streams = {emit.stream for emit in emits}
        at_once = self.same_answers(streams.pop(), len(emits)) if len(streams) == 1 else None
        return list(map(self.answer, emits)) if at_once is None else at_once

    def same_answers(self, stream: str, count: int) -> list[TaskIds] | None:
        """The answers to so many emits on one stream, where any task of its consumer will do; None elsewhere."""
        ready = self._ready.get(stream, self._undeclared)
        if not ready:
            return None
        begin = self._turn + 1
        self._turn += count
        if len(ready) == 1:
            return [ready[0]] * count
        return [ready[turn % len(ready)] for turn in range(begin, begin + count)]


def _sinks(profile: Profile) -> tuple[int, ...]:
    """The tasks that are neither the component's, nor of what it reads from, nor Storm's own."""
    others = {**profile.tasks, profile.task: "__self"}
    return tuple(task for task, name in sorted(others.items()) if name not in profile.sources and name[:2] != "__")


class _Choice(NamedTuple):
    """The tasks of one consumer. `by`: indexes of the values that decide, None if any will do; `every`: all.

    `ready`: the answers that are possible, in turn, where the values don't matter.
    """

    tasks: tuple[int, ...]
    by: tuple[int, ...] | None = None
    every: bool = False
    ready: tuple[TaskIds, ...] = ()

    def of(self, emit: Emit, turn: int) -> tuple[int, ...]:
        """The tasks for one emit."""
        if self.every:
            return self.tasks
        if self.by is None:
            return (self.tasks[turn % len(self.tasks)],)
        values = emit.values
        try:
            key = repr([values[index] if index < len(values) else None for index in self.by])
        except RecursionError:
            # Nested too deep for Python, not for Java: one of its tasks, the same each time.
            key = ""
        at = zlib.crc32(key.encode("utf-8", "surrogatepass")) if self.by else 0
        return (self.tasks[at % len(self.tasks)],)


def _choice(tasks: tuple[int, ...], by: tuple[int, ...] | None = None, *, every: bool = False) -> _Choice:
    answers = () if every or by is not None else tuple(TaskIds([task]) for task in tasks)
    return _Choice(tasks, by, every, answers)


def _choices_of(spec: StreamSpec) -> list[_Choice]:
    """One choice for each consumer that has tasks; none for a direct stream, which has no plain emits."""
    if spec.direct:
        return []
    fields = spec.fields or ()
    found = []
    for consumer, tasks in spec.consumers.items():
        grouping = spec.groupings.get(consumer, {})
        by = tuple(fields.index(name) for name in grouping.get("fields", ()) if name in fields)
        grouped = grouping.get("type") == "FIELDS"
        if tasks:
            found.append(_choice(tuple(sorted(tasks)), by if grouped else None, every=grouping.get("type") == "ALL"))
    return found
