"""Time in which a component was ready to run and was not run: time that the machine took, and no time of its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from multilang_cli.driver import reaper
from multilang_cli.driver.waits.allowance import STARVED

if TYPE_CHECKING:
    from multilang_cli.driver.process import ComponentProcess


class Starved:
    """Follows the threads of a component and of its descendants (the second field of ``/proc/PID/task/TID/schedstat``).

    Where there is no such file, nothing is ever lost.
    """

    def __init__(self, process: ComponentProcess) -> None:
        self._process = process
        self._seen: dict[int, int] = {}

    def lost(self) -> float:
        """Seconds since the last look in which a thread waited for a processor: of the one that waited longest."""
        before, self._seen = self._seen, self._delays()
        waited = [delay - before[tid] for tid, delay in self._seen.items() if tid in before]
        return max(waited, default=0) / 1e9

    def _delays(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for pid in {self._process.pid, *reaper.descendants(self._process.pid)}:
            for tid in reaper.entries(f"/proc/{pid}/task"):
                if (delay := _delay(f"{pid}/task/{tid}")) is not None:
                    found[int(tid)] = delay
        return found


class OwnTime:
    """`seconds` that a component is given, without those in which it, or mlcheck, was kept from running.

    Those are added when the time is over, up to `STARVED` times as many as it was given.
    """

    def __init__(self, process: ComponentProcess, seconds: float) -> None:
        self._starved = Starved(process)
        self._ours = _delay("thread-self") or 0
        self._until = time.monotonic() + seconds
        self._spare = STARVED * seconds
        self._starved.lost()

    @property
    def is_over(self) -> bool:
        """True if nothing is left of it."""
        if time.monotonic() >= self._until and self._spare > 0:
            before, self._ours = self._ours, _delay("thread-self") or 0
            lost = min(self._spare, self._starved.lost() + (self._ours - before) / 1e9)
            self._spare -= lost
            self._until += lost
        return time.monotonic() >= self._until


def _delay(task: str) -> int | None:
    """Nanoseconds that a task has waited for a processor so far; None where that is not told."""
    fields = reaper.read_proc(f"/proc/{task}/schedstat").split()
    return int(fields[1]) if len(fields) > 1 else None
