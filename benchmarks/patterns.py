"""``python -m benchmarks.patterns``: every pattern of the causes, on texts that are made to keep it busy.

What a component wrote, and its source, are looked through by patterns that are data. Each is tried on the beginning of
some statement with one piece of text behind it again and again; one that takes longer than `LIMIT` is printed.
"""

from __future__ import annotations

import re
import signal
import sys
from typing import TYPE_CHECKING

from multilang_cli.catalogue.loader import load_causes

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 1.5
"""Seconds that a pattern may take for one text."""
SIZE = 3000
"""Characters of a text: what grows with their square takes no second, what grows exponentially no end of them."""
BEGINNINGS = (
    "", "for {\n", "\tfor {\n", "case 'ack':\n", "if x:\n", "    if x:\n", "func f() {\n", "def f():\n", "try:\n",
    "except E:\n", "foreach (a as b) {\n", "while (x) {\n", "goroutine 1 [running]:\n", "  at a (b.js:1)\n",
    "all goroutines are asleep - deadlock\n", "queue.push(a, ", "x.then(", "a = b(", 'return "', "begin\n", "do\n",
    "let mut x = y.lock();\n", "async function f() {\n", "x.forEach(async (a) => {\n",
)  # fmt: skip
PIECES = (
    "\t\t\n", "\n", "    \n", "\t\tx\n", "    x = 1\n", "a.", "a ", "(", "((a) ", '"a",', "a, ", "x y z\n",
    "  at a.b(c)\n", "\tfrom a\n", "}\n", "[[a] ",
)  # fmt: skip
CONDITIONS = (
    "code",
    "exception",
    "late_stderr",
    "lacks",
    "matches",
    "source",
    "also",
    "stderr",
    "trace",
    "waits",
    "wrote",
)


class TooLongError(Exception):
    """A pattern is not done within `LIMIT`."""


def patterns() -> Iterator[tuple[str, str]]:
    """The id of each cause with each of its patterns."""
    for cause in load_causes():
        told = {getattr(signature, name) for signature in cause.when for name in CONDITIONS}
        told.update(pattern for several in cause.suspects.values() for pattern in several)
        yield from ((cause.id, pattern) for pattern in sorted(told) if pattern)


def text_that_keeps(pattern: str) -> str:
    """The beginning of a text that keeps a pattern busy for too long; "" if there is none."""
    compiled = re.compile(pattern, re.MULTILINE)
    for beginning in BEGINNINGS:
        for piece in PIECES:
            signal.setitimer(signal.ITIMER_REAL, LIMIT)
            try:
                compiled.search(beginning + piece * (SIZE // len(piece)))
            except TooLongError:
                return beginning + piece
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


def main() -> int:
    """Print each pattern that is too slow; the exit code is 1 if there is one."""

    def too_long(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGALRM, too_long)
    tried = slow = 0
    for cause, pattern in patterns():
        tried += 1
        if text := text_that_keeps(pattern):
            slow += 1
            print(f"{cause}: {pattern!r} takes over {LIMIT} s behind {text!r}")
    print(f"{tried:,} patterns, {len(BEGINNINGS) * len(PIECES)} texts each: {slow} too slow")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
