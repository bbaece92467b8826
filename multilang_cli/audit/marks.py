"""Ack marks of the lines of a topology's history, by root and edge. Pure; runs on executors.

A mark is all that an acker could know: an edge was made, acked, failed or lost; a spout emitted a root, or was told its
end. Roots are judged by marks alone, wherever these come from.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.topology.history import Delivered, EmissionEnded, Emitted, Happening, Lost, TupleSettled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.audit.parsing import EventRow

EMIT, MADE, ACK, FAIL, LOST = "emit", "made", "ack", "fail", "lost"
ACKED, FAILED, TIMED_OUT, TOLD_FAIL = "acked", "failed", "timed out", "told fail"
"""How a root ended. A tap sees that a spout is told fail, and not which of the middle two it was."""

CERTAIN, HIGH, LOW = 0, 1, 2
"""Doubt: none, an inference that something checked, a guess."""
CONFIDENCE = ("certain", "high", "low")
"""By doubt."""

_decode = msgspec.json.Decoder(Happening).decode
_encode = msgspec.json.Encoder().encode


class Mark(NamedTuple):
    """A row of the table marks, less its run. `task`: the spout's task of an emit, the holder's of an edge."""

    root: int
    what: str
    t: float
    edge: int | None = None
    task: int | None = None
    id: str | None = None
    doubt: int = CERTAIN


def marks_of_line(line: bytes) -> list[Mark] | None:
    """The marks that a line of ``history.ndjson`` makes; None if it is no such line. Never raises."""
    try:
        return list(marks_of(_decode(line)))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def marks_of(event: Happening) -> Iterator[Mark]:
    """The marks that an event makes."""
    match event:
        case Emitted(root=int(root)):
            yield Mark(root, EMIT, event.t, task=event.task, id=_encode(event.message_id).decode())
        case Delivered() if not event.again:
            # The same tuple once more makes no edge: the acker would take its second ack for another's.
            for root, edge in event.edges.items():
                yield Mark(root, MADE, event.t, edge, event.task, event.id)
        case TupleSettled():
            for root, edge in event.edges.items():
                yield Mark(root, event.how, event.t, edge)
        case Lost():
            for root, edge in event.edges.items():
                yield Mark(root, LOST, event.t, edge)
        case EmissionEnded(root=int(root)):
            yield Mark(root, event.how, event.t, task=event.task)


def alone_of(row: EventRow) -> list[Mark]:
    """The marks of an event of a transcript that is read on its own.

    Every tuple is a tree of its own: a bolt's has one edge, which it settles; a spout's has none, and is told its end.
    """
    if row.id is None or row.kind in {"heartbeat", "tick"}:
        return []
    return list(_alone(row, _hash(row.conv, row.id)))


def _alone(row: EventRow, root: int) -> Iterator[Mark]:
    t, id_ = row.t, row.id
    match row.ch, row.kind:
        case "in", "tuple":
            yield Mark(root, EMIT, t, id=id_)
            yield Mark(root, MADE, t, root, id=id_)
        case "out", "ack" | "fail":
            yield Mark(root, row.kind, t, root)
            yield Mark(root, ACKED if row.kind == ACK else FAILED, t)
        case "out", "emit":
            yield Mark(root, EMIT, t, id=id_)
        case "in", "ack" | "fail":
            yield Mark(root, ACKED if row.kind == ACK else TOLD_FAIL, t)


def _hash(*words: str) -> int:
    return int.from_bytes(blake2b("\0".join(words).encode(), digest_size=8).digest(), "big", signed=True)
