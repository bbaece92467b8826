"""The least time that a limited wait goes on: read from what a thread gave to the kernel. Linux only."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from multilang_cli.driver import reaper
from multilang_cli.driver.waits import descriptors

if TYPE_CHECKING:
    from multilang_cli.driver.waits.syscalls import Call

_WAIT, _WAIT_BITSET, _LOCK_PI2 = 0, 9, 13
_OPERATION = 0x7F
"""The bits of a futex's second argument that name the operation."""
_REAL_TIME = 256
"""The bit of it that chooses the clock."""
_ABSOLUTE = 1
"""The bit of a sleep's flags for an absolute time."""
_WORD = 8
_TIMEVAL = frozenset({"select"})
"""Calls that are given microseconds; all others with a pointer, nanoseconds."""


def left(pid: int, tid: int, call: Call, args: tuple[int, ...]) -> float:
    """Return the seconds for which a thread waits on at least, if nothing but the time ends it; 0 if that is not known.

    Where the kernel was told how long, not until when, the wait may be as old as the thread.
    """
    if not args:
        return 0.0
    if call.name == "futex":
        return _futex_left(pid, tid, args)
    if call.name == "nanosleep":
        return _relative(pid, tid, _seconds(pid, args[0]))
    if call.name == "clock_nanosleep":
        seconds = _seconds(pid, args[2])
        return _absolute(args[0], seconds) if args[1] & _ABSOLUTE else _relative(pid, tid, seconds)
    if call.timeout is None or call.name == "futex_waitv":
        return 0.0
    if not call.pointer:
        return _relative(pid, tid, (args[call.timeout] & 0xFFFFFFFF) / 1e3)
    unit = 1e6 if call.name in _TIMEVAL else 1e9
    return _relative(pid, tid, _seconds(pid, args[call.timeout], unit))


def _futex_left(pid: int, tid: int, args: tuple[int, ...]) -> float:
    seconds = _seconds(pid, args[3])
    operation = args[1] & _OPERATION
    if operation == _WAIT:
        return _relative(pid, tid, seconds)
    if operation in (_WAIT_BITSET, _LOCK_PI2):
        return _absolute(time.CLOCK_REALTIME if args[1] & _REAL_TIME else time.CLOCK_MONOTONIC, seconds)
    return 0.0


def _seconds(pid: int, address: int, unit: float = 1e9) -> float:
    """Read a time of two words; 0 if it can't be read."""
    data = descriptors.memory(pid, address, 2 * _WORD)
    if data is None:
        return 0.0
    whole, part = (int.from_bytes(data[at : at + _WORD], "little", signed=True) for at in (0, _WORD))
    return whole + part / unit


def _absolute(clock: int, until: float) -> float:
    if clock not in (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME):
        return 0.0
    return max(0.0, until - time.clock_gettime(clock))


def _relative(pid: int, tid: int, seconds: float) -> float:
    fields = reaper.stat_fields(f"{pid}/task/{tid}")
    if not fields:
        return 0.0
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return max(0.0, seconds - age)
