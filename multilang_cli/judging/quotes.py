"""The part of a conversation that is kept to be quoted: its last events, and the lines around what was found."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.judging.excerpts import excerpt_of, numbered
from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.events import Chunk
from multilang_cli.protocol.words.messages import Handshake, Malformed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.protocol.words.events import Event, Fact
    from multilang_cli.protocol.words.messages import Message
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.reports.model import ExcerptLine
    from multilang_cli.transcript.redact import Redactor

QUOTABLE_EVENTS = 512
"""Events of a conversation that are kept in memory to be quoted, at least."""
QUOTABLE_BYTES = 4096
"""Bytes of one event that are kept to be quoted."""


class Quotes:
    """The last events of a conversation, the large ones cut, and an excerpt around each finding.

    `sizes`: bytes of the large ones by their seq. `secrets` are hidden in what is quoted.
    """

    def __init__(self, secrets: Redactor) -> None:
        self.sizes: dict[int, int] = {}
        self._secrets = secrets
        self._kept: deque[Sequence[Event]] = deque()
        self._count = 0
        self._lines: dict[int, ExcerptLine] = {}

    def keep(self, events: Sequence[Event]) -> None:
        """Keep what happened last. Plain lines of a recording are never large."""
        if not isinstance(events, RecordedEvents) and any(len(event.raw) > QUOTABLE_BYTES for event in events):
            self.sizes |= {event.seq: len(event.raw) for event in events if len(event.raw) > QUOTABLE_BYTES}
            self.sizes = dict(list(self.sizes.items())[-QUOTABLE_EVENTS:])
            events = list(map(_quotable, events))
        self._kept.append(events)
        self._count += len(events)
        while self._count - len(self._kept[0]) >= QUOTABLE_EVENTS:
            self._count -= len(self._kept.popleft())

    @property
    def events(self) -> list[Event]:
        """The events that are kept."""
        return [event for events in self._kept for event in events]

    @property
    def last(self) -> Event | None:
        """The last event; None before the first."""
        return self._kept[-1][-1] if self._kept else None

    @property
    def excerpt(self) -> tuple[ExcerptLine, ...]:
        """The lines around all findings, in order."""
        return tuple(self._lines[seq] for seq in sorted(self._lines))

    def quote(self, finding: Finding) -> None:
        """Add the lines around a finding: it marks its own, which others may have shown."""
        for line in excerpt_of([finding], numbered(self.events), self._secrets):
            if line.mark or line.seq not in self._lines:
                self._lines[line.seq] = line

    def drop_events(self) -> None:
        """Keep no event but the last."""
        last = [self._kept[-1][-1]] if self._kept else []
        self._kept, self._count = deque([last] if last else []), len(last)

    def replace_excerpt(self, lines: Iterable[ExcerptLine]) -> None:
        """Have these lines, and no others, be the excerpt."""
        self._lines = {line.seq: line for line in lines}


def _quotable(event: Event) -> Event:
    """The part of an event that is kept to be quoted: of a large one its first bytes, and what is wrong with them."""
    if len(event.raw) <= QUOTABLE_BYTES:
        return event
    body: Message | Fact = Chunk(len(event.raw))
    if isinstance(event.body, Malformed):
        body = msgspec.structs.replace(event.body, salvage=(), by_dialect={})
    elif isinstance(event.body, Handshake):
        body = event.body
    return msgspec.structs.replace(event, raw=event.raw[:QUOTABLE_BYTES], body=body)
