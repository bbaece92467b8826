"""Time in which a component was ready to run and was not run: time that the machine took, and no time of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.driver import reaper

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
                fields = reaper.read_proc(f"/proc/{pid}/task/{tid}/schedstat").split()
                if len(fields) > 1:
                    found[int(tid)] = int(fields[1])
        return found
