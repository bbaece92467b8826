"""A bolt that waits for the task ids of each emit: it is answered first, and judged a little later, many at a time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from multilang_cli.driver.pipes import TO_READ
from multilang_cli.protocol.storm.reading import read_frames
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import TERMINATOR, Frames, plain_texts
from multilang_cli.protocol.words.messages import Ack, Emit, TaskIds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from multilang_cli.driver.pump import Pump


_ANSWERS_KEPT = 1024
"""Answers that are kept: the same few tasks come again and again."""


class AskedCollector(Protocol):
    """A collector to which the tuples of a bolt are known."""

    def has(self, id_: str) -> bool:
        """True if a tuple is with the bolt now."""

    def route(self, emit: Emit) -> tuple[int, ...] | None:
        """Take an emit; the tasks that it goes to, None if the worker dies of it."""

    def acked(self, ids: Sequence[str]) -> None:
        """Take acks that came in a row."""


def hear_asked(pump: Pump, collector: AskedCollector) -> bool:
    """Read what a bolt said, and answer it; False if that is left to `Pump.hear`, and nothing is done.

    What is plainly right, acks and an emit at last, is judged with what follows it: Storm survives it. All else is
    judged before anything follows from it, as ever.
    """
    if not (pump.is_free() and pump.framer.is_between() and pump.stdin.idle) or pump.judge.state.heartbeats:
        return False
    if not (data := pump.process.read_stdout(pump.read_size)):
        pump.hear(TO_READ)
        return True
    texts = plain_texts(data) if len(data) <= pump.framer.limit else []
    said: Sequence[Any] = read_frames(Frames(data, pump.framer.offset, texts)) if texts else ()
    if not (texts and _is_plain(pump, collector, said)):
        pump.hear_bytes(data)
        return True
    log, now, tasks = pump.events, pump.now, None
    log.put_off(said, texts, now, (pump.stdin.written, pump.framer.offset), False)
    pump.framer.offset += len(data)
    emit = said[-1] if said[-1].__class__ is Emit else None
    if len(said) > 1 or emit is None:
        collector.acked([each.id for each in said if each is not emit])
    if emit is not None:
        tasks = collector.route(emit)
    if tasks is not None:
        answer, texts, raw = _answer(tasks)
        log.put_off(answer, texts, now, (pump.stdin.written, pump.framer.offset), True)
        pump.stdin.written += len(raw)
        pump.write_at_once(raw)
    return True


@lru_cache(maxsize=_ANSWERS_KEPT)
def _answer(tasks: tuple[int, ...]) -> tuple[tuple[TaskIds], list[bytes], bytes]:
    """The task ids as a message, its text and its bytes."""
    raw = wire.frame(list(tasks))
    return (TaskIds(list(tasks)),), [raw[: -len(TERMINATOR)]], raw


def _is_plain(pump: Pump, collector: AskedCollector, said: Sequence[Any]) -> bool:
    """True if Storm survives all of `said`: acks of tuples that are open, and at last an emit that wants task ids."""
    *acks, last = said
    if last.__class__ is Ack:
        acks.append(last)
    elif not _is_right(pump, collector, last):
        return False
    if not acks:
        return True
    ids = [each.id for each in acks if each.__class__ is Ack]
    if last.__class__ is Emit and not set(ids).isdisjoint(last.anchors):
        return False
    return len(acks) == len(ids) == len(set(ids)) and all(map(collector.has, ids))


def _is_right(pump: Pump, collector: AskedCollector, emit: Any) -> bool:
    if emit.__class__ is not Emit or emit.task is not None or emit.id is not None or emit.hazards:
        return False
    known = pump.judge.arities.get(emit.stream) == len(emit.values) and emit.need_task_ids
    return known and all(map(collector.has, emit.anchors))
