"""Descriptors of a component, and who else holds its pipes: /proc is read, nothing is opened or disturbed.

Linux only. What can't be seen is "", None or empty, never an exception and never a guess.
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.driver import reaper
from multilang_cli.driver.launch import show

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.driver.waits.syscalls import Call

MOST_POLLED = 1024
"""Descriptors of one poll that are looked at."""
_WRITES = 0o3
"""The bits of a descriptor's flags that say whether it reads, writes or both."""
_AWAITED = 0x2007
"""EPOLLIN, EPOLLPRI, EPOLLOUT and EPOLLRDHUP: without any of them, as after EPOLLONESHOT, only an error wakes."""
_LISTENS, _CONNECTS = "0A", "02"


def target(pid: int, fd: int) -> str:
    """Return what a descriptor of another process leads to, such as pipe:[inode]; "" if that can't be seen."""
    try:
        return str(Path(f"/proc/{pid}/fd/{fd}").readlink())
    except OSError:
        return ""


def polled(pid: int, call: Call, args: list[int]) -> tuple[int, ...] | None:
    """Return the descriptors that a thread waits for in `poll`, `select` or `epoll_wait`; None if that can't be seen.

    `args` as in /proc/PID/syscall. Those of an epoll are of the process that made it: here the same.
    """
    if not args:
        return None
    if call.counted is None:
        info = reaper.read_proc(f"/proc/{pid}/fdinfo/{args[0]}")
        lines = [line.split() for line in info.splitlines() if line.startswith(b"tfd:")]
        return tuple(int(line[1]) for line in lines if int(line[3], 16) & _AWAITED) if info else None
    count = args[call.counted] & 0xFFFFFFFF
    if count > MOST_POLLED:
        return None
    if "poll" in call.name:
        data = memory(pid, args[0], count * 8)
        return (
            None if data is None else tuple(int.from_bytes(data[i : i + 4], "little") for i in range(0, count * 8, 8))
        )
    return _selected(pid, args, count)


def _selected(pid: int, args: list[int], count: int) -> tuple[int, ...] | None:
    found: set[int] = set()
    for address in args[1:4]:
        # The kernel's words are of 8 bytes. It writes the answer there only when the wait is over.
        data = memory(pid, address, (count + 63) // 64 * 8) if address else b""
        if data is None:
            return None
        bits = int.from_bytes(data, "little")
        found.update(fd for fd in range(count) if bits >> fd & 1)
    return tuple(sorted(found))


def memory(pid: int, address: int, size: int) -> bytes | None:
    """Return a piece of a process's memory, None if it is not ours to read."""
    try:
        fd = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.pread(fd, size, address)
    except (OSError, OverflowError):
        return None
    finally:
        os.close(fd)
    return data if len(data) == size else None


def holders(pids: Iterable[int], names: tuple[str, ...], *, writing: bool | None = None) -> dict[int, tuple[str, ...]]:
    """Return which of these processes hold which of `names` (such as pipe:[inode]) open, by pid.

    `writing`: only as one who can write to it, or only as one who can read from it.
    """
    found: dict[int, tuple[str, ...]] = {}
    for pid in pids:
        held = {
            name
            for fd in reaper.entries(f"/proc/{pid}/fd")
            if (name := target(pid, int(fd))) in names and (writing is None or _mode(pid, fd) in (int(writing), 2))
        }
        if held:
            found[pid] = tuple(name for name in names if name in held)
    return found


def _mode(pid: int, fd: str) -> int:
    """0: it reads, 1: it writes, 2: both; -1 if that can't be seen."""
    for line in reaper.read_proc(f"/proc/{pid}/fdinfo/{fd}").splitlines():
        if line.startswith(b"flags:"):
            return int(line.split()[1], 8) & _WRITES
    return -1


def in_words(pid: int, name: str) -> str:
    """Return a descriptor's target for people: a socket with its other end as far as the kernel tells. Escaped."""
    if name.startswith("socket:["):
        inode = name[8:-1].encode()
        return _tcp(pid, inode) or _unix(pid, inode) or "a socket"
    return "a pipe" if name.startswith("pipe:[") else show(name)


def _tcp(pid: int, inode: bytes) -> str:
    for table in ("tcp", "tcp6"):
        for line in reaper.read_proc(f"/proc/{pid}/net/{table}").splitlines()[1:]:
            fields = line.split()
            if len(fields) > 9 and fields[9] == inode:  # noqa: PLR2004 - the column of the inode
                local, remote, state = (field.decode("ascii", "replace") for field in fields[1:4])
                if state == _LISTENS:
                    return f"a TCP socket that listens on {_address(local)}"
                return f"a TCP connection {'being made ' if state == _CONNECTS else ''}to {_address(remote)}"
    return ""


def _address(text: str) -> str:
    host, _, port = text.partition(":")
    # Words of four bytes, each in the machine's order.
    words = [bytes.fromhex(host[i : i + 8])[::-1] for i in range(0, len(host), 8)]
    number = ipaddress.ip_address(b"".join(words))
    return f"[{number}]:{int(port, 16)}" if number.version == 6 else f"{number}:{int(port, 16)}"  # noqa: PLR2004


def _unix(pid: int, inode: bytes) -> str:
    for line in reaper.read_proc(f"/proc/{pid}/net/unix").splitlines()[1:]:
        fields = line.split(None, 7)
        if len(fields) > 6 and fields[6] == inode:  # noqa: PLR2004 - the column of the inode
            path = show(fields[7].decode("utf-8", "replace")) if len(fields) > 7 else ""  # noqa: PLR2004 - its path
            return f"a Unix socket {path}".rstrip()
    return ""
