"""Units that can be left out of a recording: whole tuples and commands, with all that belongs to them. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.judge.spout_rules import key_of
from multilang_cli.protocol.words.messages import Emit, Handshake, SpoutCommand, TaskIds, TupleMsg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.replay.recording import JudgedRecording


def units_of(events: Iterable[Event]) -> list[tuple[int, ...]]:
    """The events, by seq, that can be left out together, in the order of the first of them; never the handshake.

    A tuple, with the task ids that answered what was emitted for it; a heartbeat; a spout's command, with the acks and
    fails of what it emitted.
    """
    sorter = _Sorter()
    for event in events:
        sorter.take(event)
    return [tuple(unit) for unit in sorter.units]


def part_of(recording: JudgedRecording, units: Sequence[tuple[int, ...]], chosen: Iterable[int]) -> JudgedRecording:
    """`recording` with the units `chosen`, and all that is no unit: what was heard is waited for where it is due."""
    kept = {seq for number in chosen for seq in units[number]}
    left_out = {seq for unit in units for seq in unit} - kept
    return msgspec.structs.replace(
        recording, events=tuple(event for event in recording.events if event.seq not in left_out)
    )


class _Sorter:
    def __init__(self) -> None:
        self.units: list[list[int]] = []
        self._by_tuple: dict[str, list[int]] = {}
        self._by_id: dict[str, list[int]] = {}
        self._asks: deque[list[int] | None] = deque()
        self._last: list[int] | None = None

    def take(self, event: Event) -> None:
        """Put an event into the unit that it belongs to."""
        body = event.body
        if event.channel == "in" and not isinstance(body, Handshake):
            self._told(event.seq, body)
        elif event.channel == "out" and isinstance(body, Emit):
            self._emitted(body)

    def _told(self, seq: int, body: Any) -> None:
        if isinstance(body, TaskIds):
            unit = self._asks.popleft() if self._asks else self._last
            if unit is not None:
                unit.append(seq)
            return
        if isinstance(body, SpoutCommand) and body.command in {"ack", "fail"}:
            unit = self._by_id.get(key_of(body.id))
            if unit is not None:
                unit.append(seq)
                self._last = unit
                return
        self._last = [seq]
        self.units.append(self._last)
        if isinstance(body, TupleMsg):
            self._by_tuple[body.id] = self._last

    def _emitted(self, emit: Emit) -> None:
        unit = next((self._by_tuple[id_] for id_ in emit.anchors if id_ in self._by_tuple), self._last)
        if emit.wants_task_ids:
            self._asks.append(unit)
        if emit.id is not None and unit is not None:
            self._by_id[key_of(emit.id)] = unit
