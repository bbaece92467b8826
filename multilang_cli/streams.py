"""The three standard streams, as whoever started us left them: closed, full, without a reader, not blocking."""

from __future__ import annotations

import io
import os
import sys

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed() -> None:
    """Have each that is closed be the null device; to be called before any file is opened.

    Python has None for a closed one, and the next file or pipe would get its number: a component's stdin, perhaps.
    """
    for name, mode in _STREAMS:
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 (pathlib costs time; stays open)
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def have_usual_output() -> None:
    """Have stderr refuse nothing, and wait for a reader where stdout or stderr would not: a parent may share them so.

    A character that an encoding does not have is escaped on stdout, as Python has it on stderr: it is no fault. What is
    said beside the result is no reason to fail, wherever it is written: a full disk, a terminal that is gone.
    """
    sys.stderr = _text(sys.stderr, _Remarks(sys.stderr.fileno(), "w", closefd=False))
    if sys.stdout.errors == "strict" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if not os.get_blocking(sys.stdout.fileno()):
        sys.stdout = _text(sys.stdout, _Waiting(sys.stdout.fileno(), "w", closefd=False))


def abandon(descriptor: int) -> None:
    """Write to nowhere from now on, so that Python does not complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


class _Waiting(io.FileIO):
    """Waits where the other end takes nothing now."""

    def write(self, data: object, /) -> int:
        """Write some of it; returns how much."""
        while (size := super().write(data)) is None:  # type: ignore[arg-type]  # bytes of any kind
            import select  # noqa: PLC0415 (seldom needed)

            select.select((), (self,), ())
        return size


class _Remarks(_Waiting):
    """Drops what can't be written."""

    def write(self, data: object, /) -> int:
        """Write it, or drop it."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes  # type: ignore[arg-type]


def _text(stream: io.TextIOBase | object, raw: io.FileIO) -> io.TextIOWrapper:
    """A stream like this one, which writes to `raw`."""
    encoding, errors = getattr(stream, "encoding", "utf-8"), getattr(stream, "errors", None)
    lines = bool(getattr(stream, "line_buffering", False))
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=lines)
