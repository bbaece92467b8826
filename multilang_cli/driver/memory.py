"""Memory of a component and its descendants, and its ceiling: a leak must not take the machine. Their files, too.

Resident memory is looked at; nothing is limited by the system. An address-space limit would kill runtimes that only
reserve much, such as Go's and the JVM.
"""

from __future__ import annotations

import math
import os
import re
from typing import NamedTuple

from multilang_cli.driver import reaper

LOOKS_EVERY = 0.25
"""Seconds between two looks."""
SHARE_OF_MEMORY = 0.5
"""Of the machine's memory, what components may hold together if nobody says otherwise."""
LEAST_BYTES = 1 << 30
"""Bytes that a component may hold at least, as long as they are no more than the share of all."""
NONE = "none"
"""A size without end."""
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_CGROUP = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class TooMuchMemoryError(Exception):
    """A component holds more memory than it may, and was killed. `held`, `allowed`: bytes."""

    def __init__(self, held: int, allowed: float) -> None:
        super().__init__(f"it held {shown(held)} of memory, more than {shown(allowed)}")
        self.held = held
        self.allowed = allowed


def size_of(text: str) -> float:
    """The bytes of a size such as 512M or 2G; without end for ``none``. Raises ValueError."""
    if text == NONE:
        return math.inf
    found = SIZE.fullmatch(text.strip())
    if found is None or not float(found[1]):
        raise ValueError(text)
    return float(found[1]) * _UNITS[found[2].upper()]


def shown(size: float) -> str:
    """A size for people."""
    return f"{size / (1 << 30):.1f} GiB" if size >= 1 << 30 else f"{size / (1 << 20):.0f} MiB"


def ceiling(text: str, jobs: int = 1) -> float:
    """The bytes that a component may hold: those of `text`, else its part of the share, one of `jobs` at once."""
    if text:
        return size_of(text)
    share = machine() * SHARE_OF_MEMORY
    return max(share / jobs, min(share, LEAST_BYTES)) if share else math.inf


def machine() -> int:
    """The memory of this machine, or of the container that we are in; 0 where that is not known."""
    try:
        whole = os.sysconf("SC_PHYS_PAGES") * _PAGE
    except (ValueError, OSError):
        return 0
    for name in _CGROUP:
        text = reaper.read_proc(name).strip()
        if text.isdigit():
            whole = min(whole, int(text))
    return whole


def held_by(pid: int, enough: float = 0.0) -> int:
    """Bytes that a process and its descendants hold, what they share counted once; a cheap guess below `enough`."""
    family = (pid, *reaper.descendants(pid))
    resident = sum(_resident(each) for each in family)
    return resident if resident <= enough else sum(_proportional(each) for each in family)


def _resident(pid: int) -> int:
    fields = reaper.stat_fields(pid)
    return int(fields[21]) * _PAGE if fields else 0


def _proportional(pid: int) -> int:
    """Bytes that a process holds, its part of what it shares with others; all of it where the system does not tell."""
    for line in reaper.read_proc(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) << 10
    return _resident(pid)


class Holding(NamedTuple):
    """Open files, and processes; one that ended counts until it is waited for."""

    files: int
    processes: int


def holding(pid: int) -> Holding:
    """Count those of a process and its descendants; nothing is seen where the system does not tell."""
    family = [pid]
    for each in family:
        family += reaper.children(each)
    return Holding(sum(len(reaper.entries(f"/proc/{each}/fd")) for each in family), len(family))
