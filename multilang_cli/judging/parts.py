"""Judging of one recorded conversation whose parts may be cut, damaged or missing. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.events import Event, Gap
from multilang_cli.transcript.reader import known_before

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.words.verdicts import Finding

JUDGED_TOGETHER = 128
"""Events that are judged at a time."""
MOST_BYTES = 1024 * 1024
"""Bytes of events that are judged at a time, about."""


class RecordedParts:
    """The parts of a conversation, given to its judge as they are read, with a gap where something is missing.

    `judge`: may be replaced by one with the same state. `on_judged`: called with events and what was found in them.
    `on_lost`: called with a sentence where something between parts is missing and the recording does not say so.
    `on_bad_snapshot`: called where the state in a header can't be taken up; if it returns, the parts before are
    missing. `closed`: the last part has its end. `seq`, `t`: of the last event. `late`: its first parts are missing.
    """

    def __init__(
        self,
        judge: Conversation,
        on_judged: Callable[[Sequence[Event], Sequence[Finding]], object],
        on_lost: Callable[[str], object],
        on_bad_snapshot: Callable[[Exception], object],
    ) -> None:
        self.judge = judge
        self.closed = self.late = False
        self.seq, self.t = 0, 0.0
        self._on_judged, self._on_lost, self._on_bad_snapshot = on_judged, on_lost, on_bad_snapshot
        self._part = 0
        self._behind: tuple[int, int, dict[str, Any] | None] | None = None
        self._in_gap = False
        self._gap_behind = ""
        self._unjudged: list[Event] = []
        self._size = 0

    def begin(self, part: int, snapshot: dict[str, Any] | None) -> None:
        """Go on with a part. `snapshot`: the state before it, as its header has it."""
        self.end_cut()
        cut, self.closed = bool(self._part) and not self.closed, False
        if part > self._part + 1 or (cut and part > self._part):
            # Its first event tells whether it is what its number says.
            self._behind = self._part, part, snapshot
        self._part = part

    def end_cut(self, events: Sequence[Event] = ()) -> None:
        """Take what stands before a part for lost, unless the part begins with `events` that tell otherwise.

        The end of the part before is declared by a gap; nothing is missing before the first event of all.
        """
        behind, self._behind = self._behind, None
        if behind is None:
            return
        before, part, snapshot = behind
        if part > before + 1 or not (events and isinstance(events[0].body, Gap)):
            first = events[0].seq if events else None
            if before:
                self._lose(before, part)
            else:
                self.late = first != 0
            self._take_up(part, snapshot, first)
        why, self._gap_behind = self._gap_behind, ""
        if why:
            self.note_gap(why)

    def _lose(self, before: int, part: int) -> None:
        why = f"what stands between parts {before} and {part} is missing"
        self._on_lost(why)
        self.note_gap(why)

    def _take_up(self, part: int, snapshot: dict[str, Any] | None, first: int | None) -> None:
        """Go on behind parts that are missing: with the state that was recorded, else knowing that they are.

        `first`: the number of the event that comes next, if one does. A state of behind it is that of another place.
        """
        self.catch_up()
        if first == 0:
            return
        if snapshot is not None and (first is None or (known_before(snapshot) or 0) < first):
            try:
                self.judge.restore(snapshot)
            except (msgspec.MsgspecError, RecursionError, KeyError, TypeError, ValueError) as error:
                self._on_bad_snapshot(error)
            else:
                self._in_gap = False
                return
        self.note_gap(f"the parts before part {part} are missing")

    def note_gap(self, why: str) -> None:
        """Know that something is missing here."""
        if self._behind is not None:
            self._gap_behind = why
            return
        self.catch_up()
        if not self._in_gap:
            self._judge([Event(self.seq, self.t, "control", Gap(why))])

    def feed(self, events: Sequence[Event]) -> None:
        """Take what happened next. Many events are judged together, which is faster."""
        if self._behind is not None:
            self.end_cut(events)
        if isinstance(events, RecordedEvents):
            self.catch_up()
            self.seq, self.t = events.seq + len(events) - 1, events.times[-1]
            self._judge(events)
            return
        self._unjudged += events
        self._size += sum([len(event.raw) for event in events])
        self.seq, self.t = events[-1].seq, events[-1].t
        if len(self._unjudged) >= JUDGED_TOGETHER or self._size >= MOST_BYTES:
            self.catch_up()

    def catch_up(self) -> None:
        """Judge what was taken so far."""
        if self._unjudged:
            events, self._unjudged, self._size = self._unjudged, [], 0
            self._judge(events)

    def _judge(self, events: Sequence[Event]) -> None:
        found = self.judge.feed_all(events)
        self._in_gap = not isinstance(events, RecordedEvents) and isinstance(events[-1].body, Gap)
        self._on_judged(events, found)
