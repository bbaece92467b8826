"""One direction of the tap: what is read on one side is written on the other, unchanged and before anything else.

Standard library only. At most one read is held back: while the reader is slow, nothing more is taken from the writer,
so both notice each other as they would without the tap.
"""

from __future__ import annotations

import os
import select
import stat
from contextlib import suppress
from typing import Literal

READ_SIZE = 64 * 1024
"""Bytes that one read asks for: what a pipe holds."""
WRITABLE = select.PIPE_BUF if hasattr(select, "PIPE_BUF") else 512
"""Bytes for which a descriptor that poll calls writable has room."""

LaneEnd = Literal["", "eof", "broken"]
"""How a lane ended: not yet, at the end of its source, or because nobody reads its sink any more."""


class Lane:
    """Bytes from the descriptor `source` to `sink`; `kind` is that of the records. Both are closed at its end.

    `passed`: bytes so far. `done`: nothing more is expected, though it has not ended.
    `own`: the sink is ours alone and never blocks. Else it is shared with others, whose descriptor must stay as it is,
    so it is given no more than poll says that there is room for. `held`: of the two, the one that is not closed at the
    end of the lane, but by `let_go`; -1 for none.
    """

    def __init__(self, kind: int, source: int, sink: int, poller: select.poll, *, own: bool, held: int = -1) -> None:
        self.kind = kind
        self.source = source
        self.sink = sink
        self.end: LaneEnd = ""
        self.passed = 0
        self.done = False
        self.held = held
        self._poller = poller
        self._slice = 0 if own or _reopened(sink) else WRITABLE
        self._pending = memoryview(b"")
        poller.register(source, select.POLLIN)
        # For nothing: an error is told all the same, so that the end of the reader is noticed before the next write.
        poller.register(sink, 0)

    @property
    def blocked(self) -> bool:
        """True if something that was read is not yet written."""
        return bool(self._pending)

    def ended(self) -> bool:
        """True once both descriptors are closed."""
        return bool(self.end)

    def move(self) -> bytes:
        """Read once, and write; what was read, b"" if there is nothing now, or nothing any more."""
        try:
            data = os.read(self.source, READ_SIZE)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._close("eof")
            return b""
        written = 0 if self._slice else self._write(data)
        self.passed += len(data)
        if written < len(data) and not self.end:
            self._pending = memoryview(data)[written:]
            # Not registered at all: the end of its writer would be told again and again.
            self._poller.unregister(self.source)
            self._poller.modify(self.sink, select.POLLOUT)
        return data

    def go_on(self) -> None:
        """Write more of what was held back: there is room now."""
        written = self._write(self._pending[: self._slice or len(self._pending)])
        if self.end:
            return
        self._pending = self._pending[written:]
        if not self._pending:
            self._poller.modify(self.sink, 0)
            self._poller.register(self.source, select.POLLIN)

    def break_off(self) -> None:
        """Nobody reads the sink any more: whoever writes to the source shall notice."""
        self._close("broken")

    def let_go(self) -> None:
        """Close what was held."""
        _shut(self.held)
        self.held = -1

    def _write(self, data: bytes | memoryview) -> int:
        try:
            return os.write(self.sink, data)
        except BlockingIOError:
            return 0
        except OSError:
            self._close("broken")
            return 0

    def _close(self, end: LaneEnd) -> None:
        if self.end:
            return
        self.end = end
        self._pending = memoryview(b"")
        for fd in (self.source, self.sink):
            with suppress(KeyError):
                self._poller.unregister(fd)
            if fd != self.held:
                _shut(fd)


def _shut(fd: int) -> None:
    """Close a descriptor. Those of stdin, stdout and stderr stay taken, so that nothing else gets their numbers."""
    with suppress(OSError):
        if fd <= 2:  # noqa: PLR2004 (stderr)
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, fd)
            os.close(nowhere)
        else:
            os.close(fd)


def _reopened(fd: int) -> bool:
    """True if `fd`, a pipe, is now ours alone and never blocks: opened again, for its flags are those of all."""
    try:
        if not stat.S_ISFIFO(os.fstat(fd).st_mode):
            return False
        own = os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    os.dup2(own, fd, inheritable=False)
    os.close(own)
    return True
