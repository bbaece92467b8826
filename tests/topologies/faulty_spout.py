"""A spout of a queue with a bug that only a fault in the right place shows, named by its argument."""

import sys
import time
from pathlib import Path
from typing import Any

from multilang_cli.topology.queue.spout import QueueSpout

BUG = sys.argv[1]
TTL = 0.5
"""Seconds after which a spout forgets what it emitted."""


class NoBug(QueueSpout):
    """Keeps what it emitted, and emits it again itself when it fails."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(conf, context)
        self.folder = Path(conf["faulty.folder"])
        self.values: dict[Any, list[Any]] = {}
        self.again: list[Any] = []
        self.failed: set[Any] = set()

    def next_tuple(self) -> None:
        if self.again:
            number = self.again.pop(0)
            self.emit_again(number, self.values[number])
            return
        opened = self._ask(do="open")
        if opened:
            self.values[opened["id"]] = [opened["message"]]
            self.emit_first(opened["id"], self.values[opened["id"]])
        else:
            self.idle()

    def emit_first(self, number: Any, values: list[Any]) -> None:
        self.emit(values, id=number)

    def emit_again(self, number: Any, values: list[Any]) -> None:
        self.emit(values, id=number)

    def ack(self, id: Any) -> None:  # noqa: A002
        self.values.pop(id, None)
        self._ask(do="confirm", id=id)

    def fail(self, id: Any) -> None:  # noqa: A002
        self.again.append(id)


class SwallowsFails(NoBug):
    def fail(self, id: Any) -> None:  # noqa: A002
        self._ask(do="confirm", id=id)


class ReplaysOnce(NoBug):
    def fail(self, id: Any) -> None:  # noqa: A002
        if id in self.failed:
            self._ask(do="confirm", id=id)
        else:
            self.failed.add(id)
            self.again.append(id)


class ReplaysWithoutId(NoBug):
    def emit_again(self, number: Any, values: list[Any]) -> None:
        self.emit(values)
        self._ask(do="confirm", id=number)


class ReplaysWithoutValue(NoBug):
    """Under a new id, which has no value any more."""

    def emit_again(self, number: Any, values: list[Any]) -> None:
        del values
        self.emit([0], id=f"again {number}")

    def ack(self, id: Any) -> None:  # noqa: A002
        self._ask(do="confirm", id=int(str(id).removeprefix("again ")))


class ConfirmsWhatItEmits(NoBug):
    """Before its children are through."""

    def emit_first(self, number: Any, values: list[Any]) -> None:
        self.emit(values, id=number)
        self._ask(do="confirm", id=number)

    def ack(self, id: Any) -> None:  # noqa: A002
        self.values.pop(id, None)


class KeepsTwo(NoBug):
    """Of what it emitted it knows the last two: what else fails is no more."""

    def emit_first(self, number: Any, values: list[Any]) -> None:
        self.emit(values, id=number)
        for old in list(self.values)[:-2]:
            del self.values[old]

    def fail(self, id: Any) -> None:  # noqa: A002
        if id in self.values:
            self.again.append(id)
        else:
            self._ask(do="confirm", id=id)


class ReplaysWithTheNextAck(NoBug):
    def ack(self, id: Any) -> None:  # noqa: A002
        super().ack(id)
        self.again += self.failed
        self.failed.clear()

    def fail(self, id: Any) -> None:  # noqa: A002
        self.failed.add(id)


class CommitsTheHighestAck(NoBug):
    """Takes all below the highest number that was acked for done, when it starts again."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(conf, context)
        self.file = self.folder / "committed"
        self.start = int(self.file.read_text()) if self.file.exists() else 0

    def next_tuple(self) -> None:
        if self.start:
            while (opened := self._ask(do="open")) and opened["id"] <= self.start:
                self._ask(do="confirm", id=opened["id"])
            if opened:
                self._ask(do="abort", id=opened["id"])
            self.start = 0
        super().next_tuple()

    def ack(self, id: Any) -> None:  # noqa: A002
        super().ack(id)
        known = int(self.file.read_text()) if self.file.exists() else 0
        whole = self.file.with_suffix(".new")
        whole.write_text(str(max(known, id)))
        whole.replace(self.file)


class ConfirmsABatchWithItsFirstAck(NoBug):
    def ack(self, id: Any) -> None:  # noqa: A002
        self.values.pop(id, None)
        for number in {*self.values, id}:
            self._ask(do="confirm", id=number)


class NoIdWhenBusy(NoBug):
    """With more than five under way it takes the fast path."""

    def emit_first(self, number: Any, values: list[Any]) -> None:
        busy = len(self.values) > 5
        self.emit(values, id=None if busy else number)
        if busy:
            self.ack(number)


class ForgetsInTime(NoBug):
    """What failed later than that is given up."""

    def emit_first(self, number: Any, values: list[Any]) -> None:
        self.emit(values, id=number)
        self.values[number] = [*values, time.monotonic()]

    def emit_again(self, number: Any, values: list[Any]) -> None:
        self.emit(values[:1], id=number)

    def fail(self, id: Any) -> None:  # noqa: A002
        if time.monotonic() - self.values[id][1] < TTL:
            self.again.append(id)
        else:
            self._ask(do="confirm", id=id)


globals()[BUG]().run()
