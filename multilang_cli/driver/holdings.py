"""Files and processes that a component has: what grows with each message ends it one day."""

from __future__ import annotations

from typing import NamedTuple

from multilang_cli.driver import reaper


class Counted(NamedTuple):
    """Open files, and processes; one that ended counts until it is waited for."""

    files: int
    processes: int


def held_by(pid: int) -> Counted:
    """Look at a process and its descendants; nothing is seen where the system does not tell."""
    family = [pid]
    for each in family:
        family += reaper.children(each)
    return Counted(sum(len(reaper.entries(f"/proc/{each}/fd")) for each in family), len(family))
