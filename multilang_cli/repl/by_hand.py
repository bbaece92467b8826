"""Storm's side where a person plays it: bytes that are no message, task ids of one's own, and an end to any wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.driver.session import Session
from multilang_cli.driver.shell_bolt import ShellBolt
from multilang_cli.driver.shell_spout import ShellSpout
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import Framer, frame_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.driver.session import WaitingFor

_NOW = 0.02
"""Seconds that one round may wait for the pipe to take something."""


class ByHand(Session):
    """A session whose waits end as soon as `interrupted` is set: that is no finding."""

    interrupted = False

    def wait(
        self,
        done: Callable[[], bool],
        limit: float,
        waiting_for: WaitingFor,
        progress: Callable[[], object] | None = None,
        *,
        quietly: bool = False,
    ) -> bool:
        """As any session waits, or until a person has waited long enough: False then."""
        waited = super().wait(lambda: self.interrupted or done(), limit, waiting_for, progress, quietly=quietly)
        return waited and not self.interrupted

    def say_raw(self, data: bytes) -> None:
        """Write bytes behind all that is queued, whatever they are. Each whole frame in them is an event, and the rest.

        What they say is read as a transcript of them is.
        """
        while self.running and not self.idle:
            self.pump(_NOW)
        framer = Framer()
        frames = [frame.raw for frame in framer.feed(data)]
        rest = data[sum(map(len, frames)) :]
        self.say_bytes((wire.decode(frame_text(raw)), raw) for raw in ([*frames, rest] if rest else frames))


class BoltByHand(ByHand, ShellBolt):
    """ShellBolt, played by hand."""


class SpoutByHand(ByHand, ShellSpout):
    """ShellSpout, played by hand: a command may be out while the person does something else. `asked`: it is."""

    asked = False

    def begin(self, command: str, id_: object = "") -> None:
        """Send a command; `answered` tells when its sync is there."""
        self.asked = True
        self.ask(command, id_)

    def leave(self) -> None:
        """Wait for the sync no longer: it came, or Storm would have given up."""
        self.asked = False
        super().leave()
