"""Checks of an announced pid: that it is true, and that its file stands in the pid directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from multilang_cli.driver import reaper

if TYPE_CHECKING:
    from pathlib import Path

Relation = Literal["self", "descendant", "foreign", "dead", "unknown"]
PidFile = Literal["empty", "filled", "missing"]

_LARGEST_PID = 2**31 - 1


def relation(announced: int, process_id: int, cookie: str) -> Relation:
    """Say what an announced pid is to the process that was started with this pid and cookie.

    A descendant whose parents are gone is known by the cookie that it inherited. "foreign": alive, but neither.
    "unknown": alive, but the system does not show what it is.
    """
    if announced == process_id:
        return "self"
    if not 0 < announced <= _LARGEST_PID:
        return "dead"
    if not reaper.stat_fields("self"):
        return _without_proc(announced)
    if not reaper.start_time(announced):
        return "dead"
    if announced in reaper.descendants(process_id):
        return "descendant"
    carried = reaper.carries(announced, ((reaper.COOKIE_PREFIX + cookie).encode(),))
    return "descendant" if carried else "foreign"


def _without_proc(announced: int) -> Relation:
    try:
        os.kill(announced, 0)
    except ProcessLookupError:
        return "dead"
    except PermissionError:
        return "foreign"
    return "unknown"


def has_a_pid_file(pid_dir: Path) -> bool:
    """True if a file named after some pid stands in the pid directory, which may be anything by now."""
    try:
        with os.scandir(pid_dir) as found:
            return any(file.name.isdecimal() for file in found)
    except OSError:
        return False


def pid_file(pid_dir: Path, pid: int) -> PidFile:
    """Look at the file that a component makes in the pid directory: it is named after the pid, and empty."""
    try:
        return "filled" if (pid_dir / str(pid)).stat().st_size else "empty"
    except (OSError, ValueError):
        return "missing"
