"""Collectors: where what a component emits and settles goes, as to Storm's own ``OutputCollector``."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

import msgspec

from multilang_cli.driver.shell.routing import Router
from multilang_cli.protocol.wire.batches import Usual
from multilang_cli.protocol.words.messages import DEFAULT_STREAM, Ack, Emit, Fail, Log

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from multilang_cli.driver.script import Handler
    from multilang_cli.protocol.wire.batches import Batch
    from multilang_cli.protocol.words.messages import TaskIds
    from multilang_cli.protocol.words.verdicts import Profile

KEPT_EMITS = 10_000
"""Emits that are kept for whoever asks what a component emitted."""
KEPT_BYTES = 16_384
"""Bytes of an emit, beyond which its values are not kept."""
_EMITS_AND_SILENT = frozenset({Emit, Ack, Log})
"""What a bolt mostly says: emits, and what nothing is done about."""


class OutputCollector(Protocol):
    """Takes what a component emits, and may handle other messages in the place of the shell."""

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Handlers of other messages than emits, by class."""

    def emit(self, emit: Emit, size: int) -> TaskIds | None:
        """Take an emit, whose frame has `size` bytes; the answer, None for none."""

    @property
    def last_emit(self) -> Emit | None:
        """The last emit, None if that is not known."""


class BoltOutputCollector(OutputCollector, Protocol):
    """Takes all that a bolt says."""

    def take(self, batch: Batch) -> list[TaskIds] | None:
        """Take what was said together; the answers. None, and nothing is taken, if that must be one by one."""


class KeptEmits:
    """Keeps emits, and answers each with tasks as its stream's groupings choose them.

    `emits`: of a bolt the latest, of a spout the first; none if `keeps` is False. `count`: how many there were while
    they were kept, of them `with_id` with a message id. `fails`: tuples that a bolt failed.
    """

    __slots__ = ("_latest", "_router", "count", "emits", "fails", "handlers", "keeps", "with_id")

    def __init__(self, profile: Profile) -> None:
        self._latest = profile.kind == "bolt"
        self.emits: deque[Emit] = deque(maxlen=KEPT_EMITS)
        self.keeps = True
        self.count = self.with_id = self.fails = 0
        self.handlers: Mapping[type, Handler] = {Fail: self._failed} if self._latest else {}
        self._router = Router(profile)

    def emit(self, emit: Emit, size: int) -> TaskIds | None:
        """Keep an emit; the answer, if it wants one."""
        if self.keeps:
            self.count += 1
            self.with_id += emit.id is not None
            if self._latest or len(self.emits) < KEPT_EMITS:
                self.emits.append(_kept(emit, size))
        return self.route(emit)

    def route(self, emit: Emit) -> TaskIds | None:
        """The answer to an emit, if it wants one."""
        return self._router.answer(emit) if emit.need_task_ids and not emit.task else None

    def take(self, batch: Batch) -> list[TaskIds] | None:
        """Keep and answer all emits at once, where nothing else is to be done."""
        if not batch.kinds <= _EMITS_AND_SILENT:
            return None
        if not self.keeps and type(batch.bodies) is Usual:
            answers = self._router.same_answers(DEFAULT_STREAM, list(map(type, batch.bodies)).count(Emit))
            if answers is not None:
                return answers
        emits = [message for message in batch.bodies if type(message) is Emit]
        if self.keeps:
            self.count += len(emits)
            self.emits += map(_kept, emits, _sizes_of_emits(batch))
        return self._router.answers([each for each in emits if each.need_task_ids and not each.task])

    @property
    def last_emit(self) -> Emit | None:
        """The last emit, None if that is not known, as of one beyond those that are kept."""
        return self.emits[-1] if self.keeps and 0 < len(self.emits) < KEPT_EMITS else None

    def _failed(self, _: Fail, __: int) -> None:
        self.fails += 1


def _sizes_of_emits(batch: Batch) -> Iterator[int]:
    return (len(text) for body, text in zip(batch.bodies, batch.texts, strict=True) if body.__class__ is Emit)


def _kept(emit: Emit, size: int) -> Emit:
    """An emit as it is kept: without its values, if its frame is large."""
    return emit if size <= KEPT_BYTES else msgspec.structs.replace(emit, values=[])
