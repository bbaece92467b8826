"""Bugs for the bolts of storm.py's testee. What each breaks is in mutants.yaml."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

import storm
from bugs import Message, field, flat

if TYPE_CHECKING:
    from collections.abc import Callable

MUCH = 5
"""Tuples that are much to do."""


def change_messages(change: Callable[[Message], list[Message]]) -> None:
    """Change what is sent."""
    send = storm.sendMsgToParent

    def changed(message: Message) -> None:
        for each in change(message):
            send(each)

    storm.sendMsgToParent = changed


def seen(**changes: Callable[[Any], Any]) -> Callable[[], None]:
    """User code sees other fields of a tuple."""

    def patch() -> None:
        made = storm.Tuple.__init__

        def changed(self: storm.Tuple, *args: Any) -> None:
            made(self, *args)
            for name, change in changes.items():
                setattr(self, name, change(getattr(self, name)))

        storm.Tuple.__init__ = changed

    return patch


def beats_acked() -> None:
    """A heartbeat is acked like a tuple."""
    storm.Tuple.is_heartbeat_tuple = lambda _: False


def beats_ignored() -> None:
    """A heartbeat is not answered."""
    storm.sync = lambda: None


def anchors_always() -> None:
    """What is to have no anchor is anchored to the last tuple."""
    read, last = storm.readTuple, [""]

    def remembered() -> storm.Tuple:
        tup = read()
        last[0] = tup.id
        return tup

    storm.readTuple = remembered
    change_messages(field("emit", anchors=lambda old: old or [last[0]]))


def raise_acked() -> None:
    """What raised is acked all the same."""
    storm.fail = storm.ack


def raise_swallowed() -> None:
    """An exception in user code is logged, and the tuple acked."""

    def process_of(bolt: type[Any]) -> None:
        process = bolt.process

        def calm(self: Any, tup: storm.Tuple) -> None:
            try:
                process(self, tup)
            except RuntimeError as error:
                storm.logError(str(error))
                storm.ack(tup)

        bolt.process = calm

    storm.Bolt.__init_subclass__ = classmethod(process_of)


def beats_forgotten() -> None:
    """Heartbeats are not answered any more when there is much to do."""
    read, sync, seen_so_far = storm.readTuple, storm.sync, []

    def counted() -> storm.Tuple:
        tup = read()
        seen_so_far.append(None)
        return tup

    storm.readTuple = counted
    storm.sync = lambda: sync() if len(seen_so_far) < MUCH else None


def on_raise(answer: Callable[[storm.Tuple, storm.Tuple], None]) -> Callable[[], None]:
    """After an exception in the user's process, this is done with the tuple before and the tuple that raised."""

    def bolt(made: type[Any]) -> None:
        process, before = made.process, []

        def calm(self: Any, tup: storm.Tuple) -> None:
            before.append(tup)
            try:
                process(self, tup)
            except RuntimeError:
                answer(before[-2 if len(before) > 1 else -1], tup)
                raise

        made.process = calm

    def patch() -> None:
        storm.Bolt.__init_subclass__ = classmethod(bolt)

    return patch


def ticks_raw() -> None:
    """A tick reaches the user's code as any tuple."""
    made = storm.Tuple.__init__

    def plain(self: storm.Tuple, *args: Any) -> None:
        made(self, *args)
        self.stream = "default" if self.stream == "__tick" else self.stream

    storm.Tuple.__init__ = plain


def ticks_twice() -> None:
    """A tick is acked by the user's code and by the library."""
    ack = storm.ack

    def again(tup: storm.Tuple) -> None:
        ack(tup)
        if tup.stream == "__tick":
            ack(tup)

    storm.ack = again


def fields_named() -> None:
    """The fields of tuples become names of the language."""
    first = storm.initComponent

    def named() -> list[Any]:
        conf, context = first()
        for streams in context["source->stream->fields"].values():
            for stream, fields in streams.items():
                namedtuple(stream, fields)  # noqa: PYI024 (the names are not known before)
        return [conf, context]

    storm.initComponent = named


BOLTS: dict[str, Callable[[], None]] = {
    "seen-id-number": seen(id=int),
    "seen-component": seen(component=lambda _: None),
    "seen-stream": seen(stream=lambda _: "default"),
    "seen-task": seen(task=str),
    "seen-values": seen(values=lambda old: [str(value) if value is True else value for value in old]),
    "seen-double": seen(values=lambda old: [float(value) if type(value) is int else value for value in old]),
    "seen-short": seen(values=lambda old: [round(value, 3) if type(value) is float else value for value in old]),
    "seen-flat": seen(values=lambda old: [old[0], *map(flat, old[1:])]),
    "seen-stripped": seen(values=lambda old: [value.strip() if isinstance(value, str) else value for value in old]),
    "anchors-always": anchors_always,
    "beats-acked": beats_acked,
    "beats-ignored": beats_ignored,
    "raise-acked": raise_acked,
    "raise-swallowed": raise_swallowed,
    "beats-forgotten": beats_forgotten,
    "fails-before": on_raise(lambda before, _: storm.fail(before)),
    "fails-acked": on_raise(lambda _, tup: storm.fail(tup)),
    "ticks-raw": ticks_raw,
    "ticks-twice": ticks_twice,
    "fields-named": fields_named,
}
"""Bugs by their names."""
