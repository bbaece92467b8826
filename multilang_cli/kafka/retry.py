"""When a failed message is emitted again (``ExponentialBackoffMsgRetryManager``). Pure."""

from __future__ import annotations

import msgspec

FOREVER = -1
LARGEST_EXPONENT = 64
"""Failures after which a delay grows no more: floats end somewhere."""


class Backoff(msgspec.Struct, frozen=True, kw_only=True):
    """Delays in seconds. `limit`: how often a message is emitted again before it is given up, FOREVER for always.

    The first delay is `initial`, each further one `multiplier` times the one before, none is longer than `longest`.
    """

    initial: float = 0.0
    multiplier: float = 2.0
    longest: float = 60.0
    limit: int = FOREVER

    def delay(self, failures: int) -> float:
        """Seconds until a message that has failed so many times, 1 or more, is emitted again."""
        return min(self.initial * self.multiplier ** min(failures - 1, LARGEST_EXPONENT), self.longest)

    def gives_up(self, failures: int) -> bool:
        """True if a message that has failed so many times is not emitted again."""
        return self.limit != FOREVER and failures > self.limit
