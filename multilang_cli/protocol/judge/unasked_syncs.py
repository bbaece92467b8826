"""Syncs of a bolt that no heartbeat asked for: before Storm 0.7.1 one was due after each tuple. Pure."""

from __future__ import annotations

LEAST_UNASKED = 3
"""Syncs that no heartbeat asked for, by which it is told how a bolt syncs."""


class WaitingHeartbeats:
    """The heartbeats of one process that no sync has answered. A sync does not say what it answers (ShellBolt)."""

    def __init__(self) -> None:
        self._waiting = 0

    def sent(self) -> None:
        """Take a heartbeat."""
        self._waiting += 1

    def synced(self) -> bool:
        """Take a sync; True if none waits for it."""
        if not self._waiting:
            return True
        self._waiting -= 1
        return False


def is_after_each(unasked: int, settled: int) -> bool:
    """True if so many syncs that were not asked for are one for each tuple of those that it `settled`, or nearly."""
    return unasked >= LEAST_UNASKED and 10 * unasked >= 9 * settled > 0
