"""Signals to a session by hand at a terminal, from its first start to its end."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.repl.driver import Driver


@contextmanager
def interruptible(driver: Driver) -> Iterator[None]:
    """Ctrl-C ends what is waited for, never the session; SIGTERM ends both, and is KeyboardInterrupt in the end."""
    terminated: list[int] = []

    def end(number: int, _: object) -> None:
        """Handle SIGTERM: what is waited for ends, then the REPL."""
        terminated.append(number)
        driver.quitting = True
        driver.interrupt()

    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: driver.interrupt()),
        signal.SIGTERM: signal.signal(signal.SIGTERM, end),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if terminated:
        raise KeyboardInterrupt
