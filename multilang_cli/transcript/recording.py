"""The transcript of a case, as long as it can be written: a full disk must not cost a verdict."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from multilang_cli.protocol.wire.batches import Batch, EmptyTurns, RecordedEvents
from multilang_cli.protocol.wire.context import TOPOLOGY
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Profile

TAKES_TOGETHER = 128
"""How often events are taken before they are written: many together take less time than each by itself."""
KEPT_BYTES = 256 * 1024
"""Bytes of events from which they are written at once."""


def header_now(
    conv: str, profile: Profile, argv: Iterable[str], *, topology: str = TOPOLOGY, worker: str = ""
) -> Header:
    """The header of a conversation that begins now."""
    return Header(
        conv=conv,
        profile=profile,
        storm=profile.storm,
        argv=tuple(argv),
        topology=topology,
        component=profile.component,
        task=profile.task,
        worker=worker,
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


class Recording:
    """Writes events to the file at `path`; `failed`: why it can't any more, "" if it can. Never raises OSError."""

    def __init__(self, path: Path, header: Header, more_settings: Mapping[str, Any]) -> None:
        self.failed = ""
        self._writer: TranscriptWriter | None = None
        self._kept: list[Sequence[Event]] = []
        self._size = 0
        try:
            path.unlink(missing_ok=True)
            self._writer = TranscriptWriter(path, header, more_settings=more_settings)
        except OSError as error:
            self._fail(error)

    def take(self, events: Sequence[Event], _: object = None, /) -> None:
        """Add events, if nothing has failed so far."""
        self._kept.append(events)
        if events.__class__ is Batch:
            self._size += len(events.data)
        elif events.__class__ is EmptyTurns:
            self._size += sum(map(len, events.told))
        elif events.__class__ is RecordedEvents:
            self._size += sum(map(len, events.raws))
        else:
            self._size += sum([len(event.raw) for event in events])
        if len(self._kept) >= TAKES_TOGETHER or self._size >= KEPT_BYTES:
            self._write()

    def _write(self) -> None:
        kept, self._kept, self._size = self._kept, [], 0
        if self._writer is not None and not self.failed:
            try:
                for events in kept:
                    self._writer.take(events)
            except OSError as error:
                self._fail(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._write()
        if self._writer is not None:
            try:
                self._writer.close()
            except OSError as error:
                self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.failed = error.strerror or str(error)
