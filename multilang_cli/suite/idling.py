"""How long a spout is asked that emits nothing: measured once in a run, so that one that sleeps costs no minutes."""

from __future__ import annotations

SOON = 1.0
"""Seconds of empty calls that a case goes on for at least."""
PATIENT = 10.0
"""Seconds of empty calls after which a spout counts as one that emits nothing of itself."""
BUDGET = 2.0
"""Seconds after which a spout that is slow to emit need not be called again: some calls say as much as all."""


class Idle:
    """What a run knows of the empty calls of its spout. `limited`: False to ask as often as the cases say."""

    def __init__(self, *, limited: bool = True) -> None:
        self.limited = limited
        self._needed: float | None = None
        self._asked = 0.0

    @property
    def allowance(self) -> float:
        """Seconds of empty calls in a row after which a case asks no more.

        Twice what it once took until a tuple came; where none ever came, long once and short from then on.
        """
        if not self.limited:
            return float("inf")
        if self._needed is not None:
            return max(SOON, 2 * self._needed)
        return SOON if self._asked >= PATIENT else PATIENT

    @property
    def budget(self) -> float:
        """Seconds after which the calls of one step come to an end."""
        return BUDGET if self.limited else float("inf")

    def asked(self, seconds: float) -> None:
        """Note that calls for so many seconds, one after another, brought nothing."""
        self._asked = max(self._asked, seconds)

    def came(self, seconds: float) -> None:
        """Note that a tuple came after so many seconds of empty calls."""
        self._needed = max(self._needed or 0.0, seconds)
