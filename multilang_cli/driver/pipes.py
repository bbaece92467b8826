"""The three pipes of a component, made as large as the system allows."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import termios
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import select

PIPE_SIZE = 1024 * 1024
"""Bytes that a pipe is asked to hold, so that a window of tuples moves in few system calls."""

PLAIN_PIPE = 64 * 1024
"""Bytes of a pipe for which nobody asks for more, as Storm's."""

SMALL_PIPE = 4096
"""Bytes of the smallest pipe."""

LOOKS = 100
"""Looks at the pipes before sleep, some 60 microseconds: a process that sleeps is woken 20 to 40 later."""
MOST_RESTS = 1023
"""Calls without such looks, at most."""

Three = tuple[int, int, int]
"""Descriptors of stdin, stdout and stderr."""


class Ready(msgspec.Struct, frozen=True, gc=False):
    """Pipes that can be used now without waiting. `stdout`, `stderr`: something can be read, be it the end of file.

    `exited`: the process is dead; what it wrote may still be in the pipes.
    """

    stdin: bool
    stdout: bool
    stderr: bool
    exited: bool


READY = tuple(Ready(bool(m & 1), bool(m & 2), bool(m & 4), bool(m & 8)) for m in range(16))
"""By a mask: 1 stdin, 2 stdout, 4 stderr, 8 exited."""
TO_READ = READY[2]
"""There is something to read from stdout, and nothing else."""


def make_pipes() -> tuple[Three, Three]:
    """Make stdin, stdout and stderr; return the component's ends and ours, which never block. Raises OSError."""
    made: list[tuple[int, int]] = []
    try:
        made.extend(os.pipe() for _ in range(3))
    except OSError:
        for pair in made:
            os.close(pair[0])
            os.close(pair[1])
        raise
    (stdin_read, stdin_write), (stdout_read, stdout_write), (stderr_read, stderr_write) = made
    for fd in (stdin_write, stdout_read):
        resize(fd, PIPE_SIZE)
    ours = (stdin_write, stdout_read, stderr_read)
    for fd in ours:
        os.set_blocking(fd, False)
    return (stdin_read, stdout_write, stderr_write), ours


def resize(fd: int, size: int) -> None:
    """Have a pipe hold so many bytes, where the system lets us: any size will do."""
    if sys.platform == "linux":
        # Refused to users who hold many pipes already, and where more stands in it.
        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, size)


def unread(fd: int | None) -> int | None:
    """Return how many bytes stand in the pipe of this end, whichever it is; None for no pipe."""
    if fd is None:
        return None
    return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)), sys.byteorder)


class Looking:
    """Polls with a `poller`. After looks in vain the next calls sleep at once, more of them each time.

    Then who is to answer is slow, or needs this CPU.
    """

    __slots__ = ("_in_vain", "_poller", "_rests")

    def __init__(self, poller: select.poll) -> None:
        self._poller = poller
        self._in_vain = self._rests = 0

    def poll(self, timeout: float) -> list[tuple[int, int]]:
        """Wait at most `timeout` seconds; gives what can be done, each descriptor with its events."""
        poll = self._poller.poll
        if self._rests:
            self._rests -= 1
            return poll(timeout * 1000)
        for _ in range(LOOKS):
            if ready := poll(0):
                self._in_vain = 0
                return ready
        self._rests = self._in_vain
        self._in_vain = min(2 * self._in_vain + 1, MOST_RESTS)
        return poll(timeout * 1000)
