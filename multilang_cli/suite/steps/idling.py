"""Calls of a spout that emits nothing: measured once in a run, so that one that sleeps costs no minutes."""

from __future__ import annotations

from multilang_cli.reports.model import Observation

LEAST_IDLE = 1.0
"""Seconds of empty calls that a case goes on for at least."""
IDLE_FOR_GOOD = 10.0
"""Seconds of empty calls after which a spout counts as one that emits nothing of itself."""
EMITS_NOTHING = Observation(
    "emits-nothing", "it emitted nothing in {seconds:g} s of `next`: nothing that it emits was tested"
)
TUPLES_WITHOUT_IDS = 20
"""Tuples without an id after which a spout that emitted none with one counts as one that never does."""
BUDGET = 2.0
"""Seconds after which a spout that is slow to emit need not be called again: some calls say as much as all."""


class Idle:
    """Knowledge of a run about the calls of its spout. `limited`: False to ask as often as the cases say.

    `fruitful`: calls of one conversation, from its first on, that brought something each; at most in a run, and without
    those behind a fail, which may bring the same again.
    """

    def __init__(self, *, limited: bool = True) -> None:
        self.limited = limited
        self._needed: float | None = None
        self._asked = 0.0
        self._without_ids = self._with_ids = 0
        self._sought = 0.0
        self._lull = 0
        self.fruitful = 0

    @property
    def is_silent(self) -> bool:
        """True if it never emitted anything, for as long as it is worth to ask."""
        return not (self._without_ids or self._with_ids) and self._asked >= IDLE_FOR_GOOD

    @property
    def knows_no_ids(self) -> bool:
        """True if it emits tuples, and never one with an id: there is no use in asking each time anew."""
        enough = self._without_ids >= TUPLES_WITHOUT_IDS or (self._without_ids and self._sought >= IDLE_FOR_GOOD)
        return self.limited and not self._with_ids and bool(enough)

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Notes for its user although nothing is wrong."""
        return (EMITS_NOTHING.told(seconds=IDLE_FOR_GOOD),) if self.is_silent else ()

    def emitted(self, tuples: int, with_ids: int) -> None:
        """Note how many tuples it emitted in one conversation, and how many of them with an id."""
        self._with_ids += with_ids
        self._without_ids += tuples - with_ids

    def sought(self, seconds: float) -> None:
        """Note that a tuple with an id was asked for in vain for so long."""
        self._sought = max(self._sought, seconds)

    def slept(self, calls: int) -> None:
        """Note that the last of so many calls in one conversation was long and brought nothing."""
        self._lull = min(self._lull, calls) if self._lull else calls

    def sleeps_at(self, calls: int) -> bool:
        """True if the last of so many calls would bring no more than a long wait, as was seen; never the first."""
        return self.limited and 0 < self._lull <= calls and calls > 1

    @property
    def allowance(self) -> float:
        """Seconds of empty calls in a row after which a case asks no more.

        Twice what it once took until a tuple came; where none ever came, long once and short from then on.
        """
        if not self.limited:
            return float("inf")
        if self._needed is not None:
            return max(LEAST_IDLE, 2 * self._needed)
        return LEAST_IDLE if self._asked >= IDLE_FOR_GOOD else IDLE_FOR_GOOD

    @property
    def longest(self) -> float:
        """Seconds that empty calls took in a row, as far as they were waited for."""
        return max(self._needed or 0.0, self._asked)

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
