"""The loop of a bolt. Tuples come whenever they like, so task ids and heartbeats arrive in between.

class Split(BasicBolt):
    def process(self, tup):
        for word in tup.values[0].split():
            self.emit([word])

Split().run()
"""

from __future__ import annotations

import traceback
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from multilang_cli.component.base import ShellComponent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.component.wire import Json

HEARTBEAT_STREAM = "__heartbeat"
SYSTEM_TASK = -1


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple as a bolt gets it. `comp`, `stream` and `task` tell where it comes from; a tick has comp ``__system``."""

    id: str
    comp: str | None
    stream: str
    task: int
    values: list[Json]


class Bolt(ShellComponent):
    """A bolt that anchors and settles by hand: `ack` or `fail` each tuple exactly once, now or later."""

    def __init__(self) -> None:
        self._waiting: deque[Json] = deque()
        self._open: set[str] = set()

    def process(self, tup: Tuple) -> None:
        """Work on one tuple. After an exception the tuple is failed, unless it is settled, and the bolt goes on."""
        raise NotImplementedError

    def emit(
        self,
        values: list[Json],
        stream: str | None = None,
        anchors: Iterable[Tuple] = (),
        direct_task: int | None = None,
        *,
        need_task_ids: bool = False,
    ) -> list[int] | None:
        """Send a tuple on; return the tasks that get it, or None if that was not asked for.

        `anchors` are the tuples it was made from: if it is lost, they are replayed. Emit before you ack them. With
        `direct_task` it goes to that task of a direct stream, and Storm answers no ids.
        """
        need_task_ids = need_task_ids and direct_task is None
        message: dict[str, Json] = {"command": "emit", "tuple": list(values), "need_task_ids": need_task_ids}
        message["anchors"] = [tup.id for tup in anchors]
        if stream is not None:
            message["stream"] = stream
        if direct_task is not None:
            message["task"] = direct_task
        self._write(message)
        return self._await_task_ids() if need_task_ids else None

    def ack(self, tup: Tuple) -> None:
        """Say that the work on `tup` is done. Raises ValueError if it is settled already: Storm would die of it."""
        self._settle("ack", tup)

    def fail(self, tup: Tuple) -> None:
        """Give `tup` up: Storm replays it at once. Raises ValueError if it is settled already."""
        self._settle("fail", tup)

    def _settle(self, command: str, tup: Tuple) -> None:
        if tup.id not in self._open:
            raise ValueError(f"cannot {command} tuple {tup.id}: it is settled already")
        self._open.discard(tup.id)
        self._write({"command": command, "id": tup.id})

    def _await_task_ids(self) -> list[int]:
        while True:
            message = self._next_message()
            if isinstance(message, list):
                return message
            self._waiting.append(message)

    def _next_message(self) -> Json:
        """Return what comes next on the pipe, except heartbeats: those are answered here, at once."""
        while True:
            message = self._read()
            if not _is_heartbeat(message):
                return message
            self._sync()

    def _turn(self) -> None:
        message = self._waiting.popleft() if self._waiting else self._next_message()
        if isinstance(message, list):
            return  # task ids that nobody asked for: a Storm before 0.9.0 sends them always
        tup = Tuple(message["id"], message.get("comp"), message["stream"], message["task"], message["tuple"])
        self._open.add(tup.id)
        try:
            self._process(tup)
        except Exception:  # noqa: BLE001 - whatever a user's code raises, the worker must live on
            self.report_error(traceback.format_exc())
            if tup.id in self._open:
                self.fail(tup)

    def _process(self, tup: Tuple) -> None:
        self.process(tup)


class BasicBolt(Bolt):
    """A bolt that is done with a tuple when `process` returns: what it emits is anchored to it, then it is acked."""

    _current: Tuple | None = None

    def emit(
        self,
        values: list[Json],
        stream: str | None = None,
        anchors: Iterable[Tuple] = (),
        direct_task: int | None = None,
        *,
        need_task_ids: bool = False,
    ) -> list[int] | None:
        """Send a tuple on, anchored to the tuple in process unless `anchors` are given. See `Bolt.emit`."""
        if self._current is not None:
            anchors = tuple(anchors) or (self._current,)
        return super().emit(values, stream, anchors, direct_task, need_task_ids=need_task_ids)

    def _process(self, tup: Tuple) -> None:
        self._current = tup
        try:
            self.process(tup)
        finally:
            self._current = None
        self.ack(tup)


def _is_heartbeat(message: Json) -> bool:
    # Ticks come from the system task too: only both together tell a heartbeat.
    return isinstance(message, dict) and message.get("stream") == HEARTBEAT_STREAM and message["task"] == SYSTEM_TASK
