"""Simpler values in a recording that is short already: one at a time, as long as it still shows what it shows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.words.messages import TupleMsg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.replay.recording import JudgedRecording

MOST_TUPLES = 8
"""Tuples whose values are worth the time."""
MOST_TRIES = 60


def simplify(recording: JudgedRecording, shows: Callable[[JudgedRecording], bool]) -> JudgedRecording:
    """The recording with simpler values in the few tuples that are left. `shows` plays a candidate."""
    places = [n for n, event in enumerate(recording.events) if _is_plain(event.body)]
    if len(places) > MOST_TUPLES:
        return recording
    tries = 0
    for place in places:
        for at in range(len(recording.events[place].body.values)):  # type: ignore[union-attr]
            for value in _simpler(recording.events[place].body.values[at]):  # type: ignore[union-attr]
                tries += 1
                if tries > MOST_TRIES:
                    return recording
                candidate = _with(recording, place, at, value)
                if shows(candidate):
                    recording = candidate
                    break
    return recording


def simplified(before: JudgedRecording, after: JudgedRecording) -> int:
    """The number of values in `after` that are not those of the same tuple in `before`."""
    values = {event.seq: event.body.values for event in before.events if _is_plain(event.body)}  # type: ignore[union-attr]
    pairs = [(values[event.seq], event.body.values) for event in after.events if _is_plain(event.body)]  # type: ignore[union-attr]
    return sum(old != new for olds, news in pairs for old, new in zip(olds, news, strict=True))


def _is_plain(body: Any) -> bool:
    return isinstance(body, TupleMsg) and not body.is_heartbeat and not body.is_tick


def _simpler(value: Any) -> Iterator[Any]:
    """Simpler values of the same type, the simplest first."""
    if isinstance(value, str):
        words = value.split()
        yield from (each for each in ("", "a", words[0] if words else "") if len(each) < len(value))
        if len(words) > 1:
            yield " ".join(words[: len(words) // 2])
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield from (type(value)(each) for each in (0, 1) if abs(each) < abs(value))
    elif isinstance(value, list | dict) and value:
        yield type(value)()


def _with(recording: JudgedRecording, place: int, at: int, value: Any) -> JudgedRecording:
    event = recording.events[place]
    body: Any = event.body
    values = [*body.values[:at], value, *body.values[at + 1 :]]
    message = msgspec.structs.replace(body, values=values)
    changed = msgspec.structs.replace(event, body=message, raw=wire.encode(message, recording.version))
    return msgspec.structs.replace(
        recording, events=(*recording.events[:place], changed, *recording.events[place + 1 :])
    )
