"""Matching of a spout's tuples, now and in the recording, by what was emitted with each id. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.judge.spout_rules import key_of
from multilang_cli.protocol.words.messages import Emit, SpoutCommand, TaskIds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.replay.said import ComparisonOptions


class Identities:
    """The ids of the recording and those of now. `then`: the events of the recording."""

    def __init__(self, then: Iterable[Event], wanted: ComparisonOptions) -> None:
        self._wanted = wanted
        self._acked: dict[int, str] = {}
        self._expected: dict[str, int] = {}
        self._ready: dict[str, deque[Any]] = {}
        keys: dict[str, str] = {}
        for event in then:
            body = event.body
            if isinstance(body, Emit) and body.id is not None:
                keys[key_of(body.id)] = key = wanted.identity(body)
                self._expected[key] = self._expected.get(key, 0) + 1
            elif isinstance(body, SpoutCommand) and body.command in {"ack", "fail"} and key_of(body.id) in keys:
                self._acked[event.seq] = keys[key_of(body.id)]
        self._strange: deque[Any] = deque()

    def emitted(self, emit: Emit) -> None:
        """A tuple with an id was emitted now."""
        key = self._wanted.identity(emit)
        if self._expected.get(key, 0) > 0:
            self._ready.setdefault(key, deque()).append(emit.id)
        else:
            self._strange.append(emit.id)

    def known(self, command: Event) -> bool:
        """True if a recorded ack or fail is of a tuple that was emitted."""
        return command.seq in self._acked

    def id_for(self, command: Event) -> Any:
        """The id to say now in a recorded ack or fail; None if nothing that was emitted can be meant.

        Of tuples that look alike, the oldest; where none does, the oldest that is not in the recording.
        """
        ready = self._ready.get(self._acked[command.seq]) or self._strange
        return ready.popleft() if ready else None


class TaskIdReplies:
    """The task ids that were answered, to be given again to the emits that look alike."""

    def __init__(self, then: Iterable[Event], wanted: ComparisonOptions) -> None:
        self._wanted = wanted
        self._by_key: dict[str, deque[Event]] = {}
        waiting: deque[Emit] = deque()
        replies: list[tuple[Emit, Event]] = []
        for event in then:
            body = event.body
            if isinstance(body, Emit) and body.wants_task_ids:
                waiting.append(body)
            elif isinstance(body, TaskIds) and waiting:
                replies.append((waiting.popleft(), event))
        self._vary = len({reply.raw for _, reply in replies}) > 1
        for emit, reply in replies if self._vary else ():
            self._by_key.setdefault(wanted.identity(emit), deque()).append(reply)

    def to(self, emit: Emit, recorded: Event) -> Event:
        """The recorded answer to such an emit; `recorded`, the next in order, where none is left."""
        if not self._vary:
            return recorded
        found = self._by_key.get(self._wanted.identity(emit))
        return found.popleft() if found else recorded
