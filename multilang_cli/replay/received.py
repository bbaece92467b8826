"""Record of what a component said, as far as somebody may wait for it. Pure: the same for a recording and live."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.protocol.storm.taking import taken
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Malformed, Pid, SpoutCommand, Sync, TupleMsg

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Kind, StormVersion


class ExpectedMessage(NamedTuple):
    """Something that was said before Storm's side went on: the `number`-th of a kind, about a tuple.

    `what`: pid, sync, settle or emit (anchored to the tuple `id`; its settling will do as well).
    """

    what: str
    id: str = ""
    number: int = 1


PID = ExpectedMessage("pid")


class ReceivedMessages:
    """Counts what answers something: syncs, settled tuples, emits by anchor. What was not asked for is not counted."""

    def __init__(self, kind: Kind, version: StormVersion) -> None:
        self.pid = False
        self.syncs = 0
        self._kind = kind
        self._version = version
        self._asked = 0
        self._delivered: Counter[str] = Counter()
        self._settled: Counter[str] = Counter()
        self._emits: Counter[str] = Counter()

    def has(self, need: ExpectedMessage) -> bool:
        """True if what is needed was said."""
        if need.what == "settle":
            return self._settled[need.id] >= need.number
        if need.what == "emit":
            return self._emits[need.id] >= need.number or self._settled[need.id] >= self._delivered[need.id]
        return self.pid if need.what == "pid" else self.syncs >= need.number

    def take(self, events: Iterable[Event], _: object = None, /) -> None:
        """Hear events, as a sink of a session."""
        for event in events:
            self.hear(event)

    def hear(self, event: Event) -> list[ExpectedMessage]:
        """Hear one event; returns what could be waited for in it."""
        body = event.body
        if event.channel == "in":
            self._deliver(body)
        if event.channel != "out":
            return []
        self.pid = True
        if isinstance(body, Malformed):
            messages = taken(body, self._kind, self._version).messages
            return [PID, *(need for message in messages for need in self._message(message))]
        return self._message(body)

    def _deliver(self, body: Any) -> None:
        if isinstance(body, TupleMsg) and not body.is_heartbeat:
            self._delivered[body.id] += 1
        elif isinstance(body, TupleMsg | SpoutCommand):
            self._asked += 1

    def _message(self, message: Any) -> list[ExpectedMessage]:
        kind = message.__class__
        if kind is Emit:
            return [self._emit(id_) for id_ in message.anchors if id_ in self._delivered]
        if kind is Ack or kind is Fail:
            if self._settled[message.id] >= self._delivered[message.id]:
                return []
            self._settled[message.id] += 1
            return [ExpectedMessage("settle", message.id, self._settled[message.id])]
        if kind is Sync and self.syncs < self._asked:
            self.syncs += 1
            return [ExpectedMessage("sync", "", self.syncs)]
        return [PID] if kind is Pid else []

    def _emit(self, id_: str) -> ExpectedMessage:
        self._emits[id_] += 1
        return ExpectedMessage("emit", id_, self._emits[id_])
