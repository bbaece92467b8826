"""Threads and timers that a language's runtime keeps for itself: data for ``waiting``. Linux only.

None of them runs a component's own code, so that none of them makes it speak.
"""

from __future__ import annotations

import signal
from pathlib import Path

from multilang_cli.driver import reaper

_HOUSEKEEPERS: dict[str, tuple[str, ...]] = {
    "java": (
        "C1 CompilerThre",
        "C2 CompilerThre",
        "Common-Cleaner",
        "G1 ",
        "GC Thread#",
        "Monitor Deflati",
        "Shenandoah",
        "Sweeper thread",
        "VM Periodic Tas",
        "VM Thread",
        "ZDirector",
        "ZStat",
        "ZUncommitter",
    ),
}
"""How the kernel's names of such threads begin (``/proc/PID/task/TID/comm``, 15 bytes), by the name of the program."""

_TIME_SLICES = frozenset({signal.SIGVTALRM, signal.SIGPROF})
"""Signals by which runtimes share time out among running threads (Ruby, PHP): they bring nothing that it waits for."""
_BLANKET = 50
"""Signals caught from which on a program catches whatever there is, as Go's runtime does: that tells nothing."""
_CATCH_ALARMS = ("ruby", "jruby", "truffleruby")
"""How the names of programs begin that catch SIGALRM always, and have no call that starts its timer."""
_REAL_TIME = 34
"""The first signal that is a program's own to use for a timer."""
_ASYNC = 0o20000
"""The flag of a descriptor that sends signals (O_ASYNC)."""


def housekeeper(pid: int, tid: int) -> bool:
    """True for a thread that a runtime keeps for itself, so that its times are no matter of the component."""
    program = _program(pid)
    if program not in _HOUSEKEEPERS:
        return False
    name = reaper.read_proc(f"/proc/{pid}/task/{tid}/comm").decode("ascii", "replace")
    return name.startswith(_HOUSEKEEPERS[program])


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""


def may_be_signalled(pid: int, status: bytes) -> bool:
    """True if a timer or a descriptor may wake a process by a signal that none of its threads is seen to wait for.

    `status`: /proc/PID/status. An interval timer can't be seen, but for the signal that has to be caught; one that
    counts the time of the processor stands still while all threads wait.
    """
    caught = reaper.signals_of(status, b"SigCgt")
    alarmed = bool(caught >> (signal.SIGALRM - 1) & 1) and caught.bit_count() < _BLANKET
    if alarmed and not _program(pid).startswith(_CATCH_ALARMS):
        return True
    by_descriptor = bool(caught >> (signal.SIGIO - 1) & 1) or bool(caught >> (_REAL_TIME - 1))
    return _has_timer(pid, caught) or (by_descriptor and _has_signalling_descriptor(pid))


def _has_timer(pid: int, caught: int) -> bool:
    """True for a timer of POSIX, or where those can't be seen, for a signal that is only caught for their sake."""
    if not Path(f"/proc/{pid}/timers").exists():
        return bool(caught >> (_REAL_TIME - 1))
    lines = reaper.read_proc(f"/proc/{pid}/timers").splitlines()
    signals = [int(line.split()[1].split(b"/")[0]) for line in lines if line.startswith(b"signal:")]
    return not _TIME_SLICES.issuperset(signals)


def _has_signalling_descriptor(pid: int) -> bool:
    for fd in reaper.entries(f"/proc/{pid}/fdinfo"):
        for line in reaper.read_proc(f"/proc/{pid}/fdinfo/{fd}").splitlines():
            if line.startswith(b"flags:") and int(line.split()[1], 8) & _ASYNC:
                return True
    return False
