"""The messages of a component that is asked for its kind: counted, and searched for what only a bolt says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.words.messages import Ack, Emit, Error, Fail, Malformed, TupleMsg
from multilang_cli.protocol.words.shortening import head

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.words.events import Event

_FIRST_BYTES = 64
"""Bytes of the first message that are kept."""
_IRREGULAR = "irregular message"
_SHOWN_OF_REPLY = 40
"""Characters of such a one that are shown."""
_COMPLAINT = 4000
"""Characters that are kept of what it tells Storm of an error."""


class Replies:
    """Keeps what a component said in one conversation: how often which message, how many bytes, the `first` ones.

    `told`: how many messages Storm sent it, the handshake among them; `tuples`: how many of them were tuples or
    heartbeats. `repeats`: it said one of `values`, texts of the tuples that it was fed. `complaint`: the errors that it
    told Storm of.
    """

    def __init__(self) -> None:
        self.said: Counter[str] = Counter()
        self.told = self.tuples = self.size = 0
        self.first = b""
        self.irregular = self.complaint = ""
        self.settles = self.anchors = self.repeats = False
        self.values: tuple[bytes, ...] = ()

    def take(self, events: Iterable[Event], _: object) -> None:
        """Note what the component says; of an irregular message what was meant."""
        for event in events:
            self.told += event.channel == "in"
            self.tuples += isinstance(event.body, TupleMsg)
            if event.channel != "out":
                continue
            self.size += len(event.raw)
            self.first = self.first or event.raw[:_FIRST_BYTES]
            body = event.body
            if isinstance(body, Malformed):
                self.said[_IRREGULAR] += 1
                self.irregular = self.irregular or head(body.excerpt.strip(), _SHOWN_OF_REPLY)
                meant: Iterable[Any] = body.salvage
            else:
                self.said[type(body).__name__.lower()] += 1
                self.repeats = self.repeats or any(value in event.raw for value in self.values)
                meant = (body,)
            for message in meant:
                if isinstance(message, Error):
                    self.complaint = f"{self.complaint}{message.msg}\n"[-_COMPLAINT:]
                self.settles = self.settles or isinstance(message, Ack | Fail)
                self.anchors = self.anchors or (isinstance(message, Emit) and bool(message.anchors))

    @property
    def acts_as_a_bolt(self) -> bool:
        """True if it did what only a bolt does."""
        return self.settles or self.anchors

    def __str__(self) -> str:
        """Name the messages after the pid, in the order in which they came first."""
        words = [f"{count} x {word}" if count > 1 else word for word, count in self.said.items() if word != "pid"]
        if self.irregular:
            words.append(f"which begin{'s' if self.said[_IRREGULAR] == 1 else ''} {self.irregular!r}")
        where = "after its pid" if self.said["pid"] else "and no pid"
        return f"{', '.join(words) or 'nothing'} {where}, {self.size} bytes in all"
