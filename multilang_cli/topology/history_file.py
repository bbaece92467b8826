"""The history of a run on disk: ``history.ndjson``, written as things happen, a line each."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Self

import msgspec

from multilang_cli.catalogue.texts import LARGEST_TEXT
from multilang_cli.protocol.wire.encoding import ENCODER, encoded
from multilang_cli.topology.history import Died, Faulted, Happening, PhaseBegun
from multilang_cli.transcript.private import open_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from multilang_cli.transcript.redact import Redactor

BUFFERED_EVENTS = 512
"""Events that are kept before they are written: components wait while they are."""

_AT_ONCE = frozenset({PhaseBegun, Died, Faulted})
"""Events that are rare, and that whoever follows a run wants to see as they happen."""

READ_TOGETHER = 64 * 1024
"""Bytes of lines that are decoded together, which takes a third of the time."""

_DECODER = msgspec.json.Decoder(Happening)
_decode, _decode_lines = _DECODER.decode, _DECODER.decode_lines


class HistoryFile:
    """Writes events to a file, flat in memory, and without the secrets that a `redactor` knows.

    Raises OSError as files do.
    """

    def __init__(self, path: Path, redactor: Redactor | None = None) -> None:
        self._file: BinaryIO = open_private(path, "wb", buffering=0)
        self._redactor = redactor if redactor is not None and redactor.knows else None
        self._kept: list[Happening] = []
        self._encode = ENCODER.encode_lines

    def take(self, event: Happening) -> None:
        """Add the next event."""
        self.take_all((event,))

    def take_all(self, events: Sequence[Happening]) -> None:
        """Add the next events."""
        redactor = self._redactor
        self._kept += events if redactor is None else [_hidden(event, redactor) for event in events]
        if len(self._kept) >= BUFFERED_EVENTS or not _AT_ONCE.isdisjoint(map(type, events)):
            self.flush()

    def flush(self) -> None:
        """Write what is kept, whole lines only."""
        unsent = memoryview(encoded(self._encode, self._kept))
        self._kept.clear()
        while unsent:
            unsent = unsent[self._file.write(unsent) :]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.flush()
        finally:
            self._file.close()


def _hidden(event: Happening, redactor: Redactor) -> Happening:
    """The event with clean texts: its numbers are those of the ack framework, and stay whatever a secret looks like."""
    texts = {name: value for name, value in msgspec.structs.asdict(event).items() if isinstance(value, str)}
    clean = {name: redactor.text(encoded(str.encode, text)).decode() for name, text in texts.items()}
    return msgspec.structs.replace(event, **clean) if clean != texts else event


def read_history(path: Path) -> Iterator[Happening]:
    """The events of a history, in their order. Its last line may be cut: a run that was killed has no other end.

    Raises OSError, msgspec.ValidationError with the line's number for one that is no event.
    """
    number = 1
    with path.open("rb") as file:
        for lines in _together(iter(partial(file.readline, LARGEST_TEXT), b"")):
            yield from _plain(lines) or _one_by_one(lines, number)
            number += len(lines)


def _together(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lines in lists, of which none has many more bytes than `READ_TOGETHER`, but for its last line."""
    some, size = [], 0
    for line in lines:
        some.append(line)
        size += len(line)
        if size >= READ_TOGETHER:
            yield some
            some, size = [], 0
    yield some


def _plain(lines: list[bytes]) -> list[Happening]:
    """The events of whole lines, one in each; none if any of them has to be looked at alone."""
    data = b"".join(lines)
    if not data.startswith(b"{") or not data.endswith(b"}\n") or data.count(b"\n{") + 1 != len(lines):
        return []
    try:
        events: list[Happening] = _decode_lines(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []
    return events if len(events) == len(lines) else []


def _one_by_one(lines: list[bytes], first: int) -> Iterator[Happening]:
    for number, line in enumerate(lines, first):
        if line.endswith(b"\n"):
            yield _event(line, number)
        elif len(line) == LARGEST_TEXT:
            raise msgspec.ValidationError(f"line {number} is longer than {LARGEST_TEXT // 2**20} MiB")


def _event(line: bytes, number: int) -> Happening:
    try:
        event: Happening = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise msgspec.ValidationError(f"line {number}: {error}") from None
    except RecursionError:
        raise msgspec.ValidationError(f"line {number}: nested too deep") from None
    return event
