"""System calls and kernel functions in which threads wait: data for ``waiting``. Linux only."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["read", "write", "poll", "sleep", "lock", "child", "signal", "other"]
"""What a call waits for. read and write: a descriptor, their first argument; other: something that is not looked at."""


class Call(NamedTuple):
    """A system call that can wait.

    `counted` and `timeout`: index of the argument that counts descriptors, and of the one that limits the time.
    `pointer`: the timeout is a pointer, null for ever; else a number of milliseconds, -1 for ever.
    """

    name: str
    kind: Kind
    counted: int | None = None
    timeout: int | None = None
    pointer: bool = True


CALLS = (
    Call("read", "read"),
    Call("readv", "read"),
    Call("splice", "read"),
    Call("recvfrom", "read"),
    Call("recvmsg", "read"),
    Call("accept", "read"),
    Call("accept4", "read"),
    Call("write", "write"),
    Call("writev", "write"),
    Call("sendto", "write"),
    Call("sendmsg", "write"),
    Call("connect", "write"),
    Call("poll", "poll", counted=1, timeout=2, pointer=False),
    Call("ppoll", "poll", counted=1, timeout=2),
    Call("select", "poll", counted=0, timeout=4),
    Call("pselect6", "poll", counted=0, timeout=4),
    Call("epoll_wait", "poll", timeout=3, pointer=False),
    Call("epoll_pwait", "poll", timeout=3, pointer=False),
    Call("epoll_pwait2", "poll", timeout=3),
    Call("nanosleep", "sleep"),
    Call("clock_nanosleep", "sleep"),
    Call("futex", "lock", timeout=3),
    Call("futex_waitv", "lock", timeout=3),
    Call("wait4", "child"),
    Call("waitid", "child"),
    Call("rt_sigtimedwait", "signal", timeout=2),
    Call("rt_sigsuspend", "signal"),
    Call("pause", "signal"),
    Call("openat", "other"),
    Call("flock", "other"),
    Call("fcntl", "other"),
    Call("fsync", "other"),
    Call("fdatasync", "other"),
    Call("io_uring_enter", "other"),
    Call("restart_syscall", "other"),
)

NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "read": 0,
        "write": 1,
        "poll": 7,
        "readv": 19,
        "writev": 20,
        "select": 23,
        "pause": 34,
        "nanosleep": 35,
        "connect": 42,
        "accept": 43,
        "sendto": 44,
        "recvfrom": 45,
        "sendmsg": 46,
        "recvmsg": 47,
        "wait4": 61,
        "fcntl": 72,
        "flock": 73,
        "fsync": 74,
        "fdatasync": 75,
        "rt_sigtimedwait": 128,
        "rt_sigsuspend": 130,
        "futex": 202,
        "restart_syscall": 219,
        "clock_nanosleep": 230,
        "epoll_wait": 232,
        "waitid": 247,
        "openat": 257,
        "pselect6": 270,
        "ppoll": 271,
        "splice": 275,
        "epoll_pwait": 281,
        "accept4": 288,
        "io_uring_enter": 426,
        "epoll_pwait2": 441,
        "futex_waitv": 449,
    },
    "aarch64": {
        "epoll_pwait": 22,
        "fcntl": 25,
        "flock": 32,
        "openat": 56,
        "read": 63,
        "write": 64,
        "readv": 65,
        "writev": 66,
        "pselect6": 72,
        "ppoll": 73,
        "splice": 76,
        "fsync": 82,
        "fdatasync": 83,
        "waitid": 95,
        "futex": 98,
        "nanosleep": 101,
        "clock_nanosleep": 115,
        "restart_syscall": 128,
        "rt_sigsuspend": 133,
        "rt_sigtimedwait": 137,
        "accept": 202,
        "connect": 203,
        "sendto": 206,
        "recvfrom": 207,
        "sendmsg": 211,
        "recvmsg": 212,
        "accept4": 242,
        "wait4": 260,
        "io_uring_enter": 426,
        "epoll_pwait2": 441,
        "futex_waitv": 449,
    },
}
"""Numbers of the calls by machine, as `uname -m` names it."""

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


def calls(machine: str) -> dict[int, Call]:
    """Return the calls by number for a machine; empty for one that isn't in NUMBERS."""
    numbers = NUMBERS.get(machine, {})
    return {numbers[call.name]: call for call in CALLS if call.name in numbers}
