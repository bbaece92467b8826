"""Lines of plain frames become rows together, as ``parsing`` makes each: most lines are such. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.audit.parsing import COLUMNS, MOST_SEQ, fits
from multilang_cli.protocol.storm.reading import read_lines
from multilang_cli.protocol.wire.encoding import decode_lines
from multilang_cli.transcript.format import BAD, decode_plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from multilang_cli.audit.parsing import Said
    from multilang_cli.protocol.words.messages import Message

Row = tuple[Any, ...]
"""The values of an `EventRow`, in the order of its fields."""


class _OddError(Exception):
    """A message needs a look of its own."""


def plain_rows(texts: Sequence[bytes]) -> list[Row] | None:
    """The rows of lines; None unless all are of plain frames with nothing odd about them."""
    try:
        lines = decode_plain_lines(b"\n".join(texts))
    except BAD:
        return None
    if len(lines) != len(texts) or not all(line.conv and line.seq <= MOST_SEQ for line in lines):
        return None
    told = b"\n".join([line.msg for line in lines if line.ch == "in"])
    said = b"\n".join([line.msg for line in lines if line.ch == "out"])
    of: dict[str, Iterator[Message]] = {
        "in": iter(decode_lines(told) if told else ()),
        "out": iter(read_lines(said) if said else ()),
    }
    try:
        return [(line.conv, line.seq, line.t, line.ch, *_said(next(of[line.ch])), len(line.msg)) for line in lines]
    except (_OddError, StopIteration):
        return None


def _said(message: Message) -> Said:
    columns = COLUMNS.get(message.__class__)
    if columns is None or not fits(said := columns(message)):
        raise _OddError
    return said
