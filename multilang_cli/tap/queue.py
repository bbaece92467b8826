"""The bounded queue between forwarding and recording: it takes what it has room for, and never waits nor raises.

Standard library only. What it holds is in the pipe first, so that it is there even if the tap is killed.
"""

from __future__ import annotations

import os
from contextlib import suppress

from multilang_cli.tap import feed as tap_feed

MOST_QUEUED = 64 * 1024 * 1024
"""Bytes that wait in memory, beside what the pipe holds, before records are left out."""
_WRITTEN_AT_ONCE = 64 * 1024
"""Bytes of what waits that are written at a time, so that what passes meanwhile need not wait."""


class RecordQueue:
    """The writing end of the pipe to the recorder; `fd` None: there is none, and everything is dropped.

    Whoever drives it looks at `waiting` and calls `flush` when the pipe has room. When it is full, bytes are left out
    until it is empty again; then a `gap` says how many, and from which pipe. Facts are never left out.
    """

    def __init__(self, fd: int | None, limit: int = MOST_QUEUED) -> None:
        self.fd = fd
        self._limit = limit
        # One piece: as many small records, each an object, they would take many times their bytes.
        self._waiting = bytearray()
        self._left_out: dict[str, int] = {}
        if fd is not None:
            os.set_blocking(fd, False)

    @property
    def waiting(self) -> bool:
        """True if something waits for room in the pipe."""
        return self.fd is not None and bool(self._waiting or self._left_out)

    def put(self, kind: int, t: float, data: bytes) -> None:
        """Add what passed: written at once if there is room."""
        if self.fd is None:
            return
        if self._left_out or len(self._waiting) + len(data) > self._limit:
            name = tap_feed.NAMES[kind]
            self._left_out[name] = self._left_out.get(name, 0) + len(data)
        else:
            self._add(tap_feed.pack(kind, t, data))

    def tell(self, t: float, event: str, **fields: object) -> None:
        """Add a fact, by the name and the fields it has in a transcript."""
        if self.fd is not None:
            self._tell_gap(t)
            self._add(tap_feed.pack_fact(t, event, **fields))

    def flush(self, t: float) -> None:
        """Write some of what waits, as far as there is room. `t`: the time, for a gap."""
        del self._waiting[: self._write(self._waiting[:_WRITTEN_AT_ONCE])]
        if not self._waiting:
            self._tell_gap(t)

    def drain(self, t: float) -> None:
        """Write everything, however long that takes."""
        if self.fd is not None:
            with suppress(OSError):
                os.set_blocking(self.fd, True)
        while self.waiting:
            self.flush(t)

    def close(self) -> None:
        """No more records: the recorder sees the end of the pipe."""
        fd, self.fd = self.fd, None
        self._waiting.clear()
        if fd is not None:
            with suppress(OSError):
                os.close(fd)

    def _tell_gap(self, t: float) -> None:
        if self._left_out:
            size = sum(self._left_out.values())
            why = f"recording was slower than what passed: {size} bytes were left out"
            left_out, self._left_out = self._left_out, {}
            self._add(tap_feed.pack_fact(t, "gap", why=why, left_out=left_out))

    def _add(self, record: bytes) -> None:
        written = 0 if self._waiting else self._write(record)
        if written < len(record):
            self._waiting += memoryview(record)[written:]

    def _write(self, record: bytes | bytearray) -> int:
        """Write; returns the number of bytes. If nobody reads any more, that is the end of recording, and no error."""
        try:
            return os.write(self.fd, record) if self.fd is not None else len(record)
        except BlockingIOError:
            return 0
        except OSError:
            self.close()
            return len(record)
