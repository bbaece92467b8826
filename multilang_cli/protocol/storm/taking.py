"""Storm's own reading of an irregular frame: not always what was meant, and not in every version the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.protocol.storm.outlooks import refused, relevant, same_message
from multilang_cli.protocol.words.messages import DEFAULT_STREAM, Emit

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import DialectReading, FromComponent, Malformed
    from multilang_cli.protocol.words.verdicts import Kind, StormVersion


class Taken(NamedTuple):
    """The messages that count from now on, and the dialects that read them so, None where it is what was meant.

    `fields`: those of an emit whose tuple is lost or null: Storm gets as far as sending it.
    """

    messages: tuple[FromComponent, ...]
    dialects: frozenset[str] | None = None
    fields: dict[str, Any] | None = None


def taken(malformed: Malformed, kind: Kind, version: StormVersion, *, lives: bool = False) -> Taken:
    """The message that Storm `version` takes the frame for.

    What was meant, where this Storm dies of the frame anyway, or where only the shape of the message is wrong. `lives`:
    it reports an error and goes on, with nothing done.
    """
    reading = malformed.by_dialect.get(version.dialect)
    if malformed.kind == "command-unknown":
        # Storm skips a command that it does not know: what was meant by it has not happened.
        return Taken(())
    if malformed.strict or reading is None or refused(reading, kind):
        return Taken(() if lives and reading is not None and refused(reading, kind) else malformed.salvage)
    alike = frozenset(
        dialect for dialect, other in malformed.by_dialect.items() if not refused(other, kind) and _same(reading, other)
    )
    if reading.effective is None:
        return Taken((), alike, fields_of(reading) if is_emit(reading) else None)
    message = _with_its_task(reading)
    salvage = malformed.salvage
    meant = len(salvage) == 1 and same_message(relevant(salvage[0], kind), relevant(message, kind))
    return Taken((message,), None if meant else alike)


def fields_of(reading: DialectReading) -> dict[str, Any]:
    """The members of the object that a dialect sees; none if it sees no object."""
    return reading.value if isinstance(reading.value, dict) else {}


def emit_of(fields: dict[str, Any]) -> Emit:
    """An emit of which the parser lets no tuple through; its task is as it was written, None where it is no direct."""
    anchors, stream = fields.get("anchors"), fields.get("stream")
    return Emit(
        values=[],
        stream=DEFAULT_STREAM if stream is None else stream,
        task=fields.get("task") or None,
        anchors=(anchors,) if isinstance(anchors, str) else tuple(anchors or ()),
        id=fields.get("id"),
    )


def is_emit(reading: DialectReading) -> bool:
    """True if a dialect sees an emit, be it one without a tuple."""
    return fields_of(reading).get("command") == "emit"


def _same(one: DialectReading, other: DialectReading) -> bool:
    if one.effective is None or other.effective is None:
        return one.effective is other.effective and is_emit(one) == is_emit(other)
    return same_message(one.effective, other.effective)


def _with_its_task(reading: DialectReading) -> Any:
    """The message, with the task as it was written: a reading has it cut to 32 bits, as it is handed on."""
    message, task = reading.effective, fields_of(reading).get("task")
    if isinstance(message, Emit) and task is not None:
        return msgspec.structs.replace(message, task=task)
    return message
