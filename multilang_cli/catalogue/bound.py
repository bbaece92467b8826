"""A bound on the time that a stranger's JSON Schema computes: its patterns and references can do so without end."""

from __future__ import annotations

import math
import os
import resource
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.protocol.words.messages import Json

MOST_SECONDS = 10.0
"""CPU seconds that the schemas of one recording may take beyond what is free."""
_FREE = 0.01
"""Seconds that each use of a schema may take, whatever it is held to."""
_FREE_PER_VALUE, _FREE_PER_CHARACTER = 1e-3, 1e-6
"""The same for each value and each character: many times what they take where nothing is tried again and again."""

_LONGEST_IN_PROCESS = 65_536
"""Characters of a text up to which a regular expression can be interrupted: some look at all of it at each place."""


class SpentError(Exception):
    """The time that was left was not enough."""


class Bound:
    """The time that is left for the schemas of one recording. `spent`: none is left, and they are not used any more.

    Only the main thread can be interrupted amid a regular expression: elsewhere the time is taken, and the next use
    refused.
    """

    def __init__(self, seconds: float = MOST_SECONDS) -> None:
        self.spent = False
        self._left = seconds
        self._runs = False

    def reason(self, value: Json, check: Callable[[], str]) -> str:
        """Ask `check` about `value`. Raises SpentError as soon as more time was taken than is left."""
        if self.spent:
            raise SpentError
        size = _size(value)
        if size.longest > _LONGEST_IN_PROCESS:
            return self._apart(size.free + self._left, check)
        with self.over(size.free):
            return check()

    @contextmanager
    def over(self, free: float) -> Iterator[None]:
        """Compute for `free` seconds and for what is left. Raises SpentError when that was taken."""
        began = time.thread_time()
        try:
            if threading.current_thread() is threading.main_thread():
                with self._interrupted(free + self._left):
                    yield
            else:
                yield
        finally:
            self._left -= max(0.0, time.thread_time() - began - free)
            self.spent |= self._left <= 0

    @contextmanager
    def _interrupted(self, seconds: float) -> Iterator[None]:
        before = signal.signal(signal.SIGVTALRM, self._interrupt)
        self._runs = True
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            yield
        finally:
            self._runs = False
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)

    def _interrupt(self, *_: object) -> None:
        if self._runs:
            self.spent = True
            raise SpentError

    def _apart(self, seconds: float, check: Callable[[], str]) -> str:
        """The same in a process of its own, which the system ends."""
        read, write = os.pipe()
        if not (child := os.fork()):
            _answer(write, math.ceil(seconds), check)
        os.close(write)
        with os.fdopen(read, "rb") as said:
            reason = said.read()
        if os.waitpid(child, 0)[1]:
            self.spent = True
            raise SpentError
        return reason.decode("utf-8", "surrogatepass")


def _answer(write: int, seconds: int, check: Callable[[], str]) -> NoReturn:
    failed = True
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        os.write(write, check().encode("utf-8", "surrogatepass"))
        failed = False
    finally:
        os._exit(failed)


class _Size(NamedTuple):
    """The seconds that a schema may take for a value without a word, and the characters of the longest text in it."""

    free: float
    longest: int


def _size(value: Json) -> _Size:
    values = characters = longest = 0
    left = [value]
    while left:
        item = left.pop()
        values += 1
        if isinstance(item, dict):
            left += [*item, *item.values()]
        elif isinstance(item, list):
            left += item
        elif isinstance(item, str):
            characters += len(item)
            longest = max(longest, len(item))
    return _Size(_FREE + values * _FREE_PER_VALUE + characters * _FREE_PER_CHARACTER, longest)
