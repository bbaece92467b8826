"""System calls and kernel functions in which threads wait: data for ``waiting``. Linux only."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["read", "write", "poll", "sleep", "lock", "child", "signal", "other"]
"""What a call waits for. read and write: a descriptor, their first argument; other: something that is not looked at."""


class Call(NamedTuple):
    """A system call that can wait. `x86_64`, `aarch64`: its number there, None where there is no such call.

    `counted` and `timeout`: index of the argument that counts descriptors, and of the one that limits the time.
    `pointer`: the timeout is a pointer, null for ever; else a number of milliseconds, -1 for ever.
    """

    name: str
    kind: Kind
    x86_64: int | None = None
    aarch64: int | None = None
    counted: int | None = None
    timeout: int | None = None
    pointer: bool = True


CALLS = (
    Call("read", "read", 0, 63),
    Call("readv", "read", 19, 65),
    Call("splice", "read", 275, 76),
    Call("recvfrom", "read", 45, 207),
    Call("recvmsg", "read", 47, 212),
    Call("accept", "read", 43, 202),
    Call("accept4", "read", 288, 242),
    Call("write", "write", 1, 64),
    Call("writev", "write", 20, 66),
    Call("sendto", "write", 44, 206),
    Call("sendmsg", "write", 46, 211),
    Call("connect", "write", 42, 203),
    Call("poll", "poll", 7, None, counted=1, timeout=2, pointer=False),
    Call("ppoll", "poll", 271, 73, counted=1, timeout=2),
    Call("select", "poll", 23, None, counted=0, timeout=4),
    Call("pselect6", "poll", 270, 72, counted=0, timeout=4),
    Call("epoll_wait", "poll", 232, None, timeout=3, pointer=False),
    Call("epoll_pwait", "poll", 281, 22, timeout=3, pointer=False),
    Call("epoll_pwait2", "poll", 441, 441, timeout=3),
    Call("nanosleep", "sleep", 35, 101),
    Call("clock_nanosleep", "sleep", 230, 115),
    Call("futex", "lock", 202, 98, timeout=3),
    Call("futex_waitv", "lock", 449, 449, timeout=3),
    Call("wait4", "child", 61, 260),
    Call("waitid", "child", 247, 95),
    Call("rt_sigtimedwait", "signal", 128, 137, timeout=2),
    Call("rt_sigsuspend", "signal", 130, 133),
    Call("pause", "signal", 34, None),
    Call("openat", "other", 257, 56),
    Call("flock", "other", 73, 32),
    Call("fcntl", "other", 72, 25),
    Call("fsync", "other", 74, 82),
    Call("fdatasync", "other", 75, 83),
    Call("io_uring_enter", "other", 426, 426),
    Call("restart_syscall", "other", 219, 128),
)
BY_NAME = {call.name: call for call in CALLS}

KERNEL_FUNCTIONS: dict[str, Kind] = {
    "pipe_read": "read",
    "anon_pipe_read": "read",
    "pipe_write": "write",
    "anon_pipe_write": "write",
    "ep_poll": "poll",
    "do_epoll_wait": "poll",
    "poll_schedule_timeout": "poll",
    "do_poll": "poll",
    "do_sys_poll": "poll",
    "do_select": "poll",
    "hrtimer_nanosleep": "sleep",
    "do_nanosleep": "sleep",
    "common_nsleep": "sleep",
    "futex_wait_queue": "lock",
    "futex_wait_queue_me": "lock",
    "futex_do_wait": "lock",
    "do_wait": "child",
    "do_sigtimedwait": "signal",
    "sigsuspend": "signal",
}
"""What /proc/PID/wchan says, its suffix (such as .constprop.0) cut off, where the call itself can't be seen."""


MACHINES = frozenset({"x86_64", "aarch64"})
"""Machines whose calls are known, as `uname -m` names them."""


def calls(machine: str) -> dict[int, Call]:
    """The calls of a machine by number; empty for one that is not in MACHINES."""
    if machine not in MACHINES:
        return {}
    return {number: call for call in CALLS if (number := getattr(call, machine)) is not None}
