"""Threads of events that belong together: those of one tuple, of one message id, of one heartbeat."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from multilang_cli.protocol.words.events import Gap
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, SpoutCommand, Sync, TaskIds, TupleMsg
from multilang_cli.reports.html.showing import name_of_id, short

if TYPE_CHECKING:
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Kind

MOST_PENDING = 65_536
"""Emits and heartbeats whose answers are awaited, at most."""


class Threads:
    """Names the thread of each event of one conversation, in order."""

    def __init__(self, kind: Kind) -> None:
        self._bolt = kind == "bolt"
        self._emitted: deque[str] = deque(maxlen=MOST_PENDING)
        self._heartbeats: deque[str] = deque(maxlen=MOST_PENDING)

    def of(self, event: Event) -> str:
        """The name of the thread that `event` belongs to, "" for none."""
        body = event.body
        if isinstance(body, Emit):
            return self._of_emit(body)
        if isinstance(body, TupleMsg):
            return self._of_tuple(body)
        if isinstance(body, Ack | Fail):
            return _tuple(body.id)
        if isinstance(body, TaskIds):
            return self._emitted.popleft() if self._emitted else ""
        if isinstance(body, SpoutCommand) and body.command in {"ack", "fail"}:
            return _message(body.id)
        if isinstance(body, Sync) and self._heartbeats:
            return self._heartbeats.popleft()
        if isinstance(body, Gap):
            self._emitted.clear()
            self._heartbeats.clear()
        return ""

    def _of_emit(self, emit: Emit) -> str:
        if self._bolt:
            name = _tuple(emit.anchors[0]) if emit.anchors else ""
        else:
            name = "" if emit.id is None else _message(emit.id)
        if emit.wants_task_ids:
            self._emitted.append(name)
        return name

    def _of_tuple(self, message: TupleMsg) -> str:
        if not message.is_heartbeat:
            return _tuple(message.id)
        self._heartbeats.append(short(f"heartbeat {name_of_id(message.id)}"))
        return self._heartbeats[-1]


def _tuple(id_: object) -> str:
    return short(f"tuple {name_of_id(id_)}")


def _message(id_: object) -> str:
    return short(f"message id {name_of_id(id_)}")
