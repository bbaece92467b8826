"""Threads of events that belong together: those of one tuple, of one message id, of one heartbeat."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.words.events import Gap
from multilang_cli.protocol.words.messages import (
    HEARTBEAT_STREAM,
    Ack,
    Emit,
    Fail,
    SpoutCommand,
    Sync,
    TaskIds,
    TupleMsg,
)
from multilang_cli.reports.html.showing import name_of_id, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from multilang_cli.protocol.words.verdicts import Kind

MOST_PENDING = 65_536
"""Emits and heartbeats whose answers are awaited, at most."""


class Threads:
    """Names the threads of the events of one conversation, in order; those of answers by what they answer."""

    def __init__(self, kind: Kind) -> None:
        self._bolt = kind == "bolt"
        # Ids: names are made of those that are shown.
        self._emitted: deque[Any] = deque(maxlen=MOST_PENDING)
        self._heartbeats: deque[str] = deque(maxlen=MOST_PENDING)

    def answered(self, bodies: Iterable[Any]) -> list[Any]:
        """Go on with what follows each other. Of the answers among it, the id of what each answers, None for none."""
        bolt, emitted, heartbeats = self._bolt, self._emitted, self._heartbeats
        found: list[Any] = []
        for body in bodies:
            kind = body.__class__
            if kind is Emit:
                if body.need_task_ids and not body.task:
                    emitted.append((body.anchors[0] if body.anchors else None) if bolt else body.id)
            elif kind is TaskIds:
                found.append(emitted.popleft() if emitted else None)
            elif kind is TupleMsg:
                if body.stream == HEARTBEAT_STREAM and body.is_heartbeat:
                    heartbeats.append(body.id)
            elif kind is Sync:
                found.append(heartbeats.popleft() if heartbeats else None)
            elif kind is Gap:
                emitted.clear()
                heartbeats.clear()
        return found

    def names(self, bodies: Iterable[Any], answered: Iterable[Any]) -> Iterator[str]:
        """The names of the threads that messages belong to, "" for none. `answered`: what was told of the same."""
        answers = iter(answered)
        own = _tuple if self._bolt else _message
        for body in bodies:
            if isinstance(body, Emit):
                id_ = (body.anchors or (None,))[0] if self._bolt else body.id
                yield "" if id_ is None else own(id_)
            elif isinstance(body, TupleMsg):
                yield _heartbeat(body.id) if body.is_heartbeat else _tuple(body.id)
            elif isinstance(body, Ack | Fail):
                yield _tuple(body.id)
            elif isinstance(body, TaskIds):
                id_ = next(answers)
                yield "" if id_ is None else own(id_)
            elif isinstance(body, SpoutCommand) and body.command in {"ack", "fail"}:
                yield _message(body.id)
            elif isinstance(body, Sync):
                id_ = next(answers)
                yield "" if id_ is None else _heartbeat(id_)
            else:
                yield ""


def _heartbeat(id_: object) -> str:
    return short(f"heartbeat {name_of_id(id_)}")


def _tuple(id_: object) -> str:
    return short(f"tuple {name_of_id(id_)}")


def _message(id_: object) -> str:
    return short(f"message id {name_of_id(id_)}")
