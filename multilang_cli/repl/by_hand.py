"""Bytes that a person says in Storm's place, whatever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import Framer, frame_text

if TYPE_CHECKING:
    from multilang_cli.driver.session import Session

_NOW = 0.02
"""Seconds that one round may wait for the pipe to take something."""


def say_raw(session: Session, data: bytes) -> None:
    """Write bytes behind all that is queued, whatever they are. Each whole frame in them is an event, and the rest.

    What they say is read as a transcript of them is.
    """
    while session.running and not session.idle:
        session.pump.move(_NOW)
    framer = Framer()
    frames = [frame.raw for frame in framer.feed(data)]
    rest = data[sum(map(len, frames)) :]
    session.pump.say_bytes((wire.decode(frame_text(raw)), raw) for raw in ([*frames, rest] if rest else frames))
