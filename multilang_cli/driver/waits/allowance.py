"""The time that one wait is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LOOKS_EVERY = 0.25
"""Seconds after which a wait asks what the machine took meanwhile."""
BRIEFLY = 0.02
"""Seconds for which any component is kept from running now and then."""
STARVED = 4
"""How many times a limit is added to it at most, for the time in which a component was ready to run and was not run."""


class Allowance:
    """`limit` seconds since the last progress. `until`: when they are over, in seconds of the conversation.

    `now`: those at its beginning; `clock`: the machine's. The limit begins anew whenever `progress` gives something
    else. What the component was kept from running is not its own time, up to `STARVED` limits.
    """

    __slots__ = ("_kept", "_limit", "_looked", "_made", "_progress", "_spare", "until")

    def __init__(self, limit: float, now: float, clock: float, progress: Callable[[], object] | None) -> None:
        self.until = now + limit
        self._limit = limit
        self._progress = progress
        self._made = None if progress is None else progress()
        self._looked = clock
        self._spare = STARVED * limit
        self._kept = 0.0

    def renew(self, now: float) -> None:
        """Begin anew if there is progress."""
        if self._progress is not None and (made := self._progress()) != self._made:
            self.until, self._made = now + self._limit, made

    def lost(self, clock: float, kept: float, starved: Callable[[], float]) -> float | None:
        """Seconds that the machine took since the last look, beyond those that we kept back; None before it is due.

        `kept`: seconds that we kept back since the last call; `starved`: asks the system.
        """
        self._kept += kept
        since = clock - self._looked
        if since < LOOKS_EVERY:
            return None
        lost = max(0.0, min(starved(), since - self._kept, self._spare))
        self._looked, self._spare, self._kept = clock, self._spare - lost, 0.0
        return lost
