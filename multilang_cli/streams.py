"""The three standard streams, where whoever started us has closed one (``mlcheck ... 2>&-``, some supervisors)."""

from __future__ import annotations

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
