"""Output of commands: stdout, which may be closed early, and progress on stderr."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Self

from multilang_cli.streams import abandon
from multilang_cli.transcript.given import GIVEN
from multilang_cli.workflow import disarmed, in_workflow

Progress = Callable[[str, int, int], None]

EVERY = 30.0
"""Seconds between two lines of progress where there is no terminal."""

_MOST_COMPLAINED = 4000
"""Characters of a complaint; some of them may be a file's."""

_COLUMNS = 80

_BARS: list[Callable[[str], None]] = []
"""What says a line above the bar of progress that stands."""


@contextmanager
def stdout_may_close() -> Iterator[None]:
    """Go on quietly if nobody reads stdout any more: the exit code is still the verdict's."""
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # rich makes a SystemExit of a broken pipe; nothing that only prints has another reason for one.
        abandon_stdout()


def abandon_stdout() -> None:
    """Write to nowhere from now on, so that Python does not complain at its end."""
    abandon(sys.stdout.fileno())


def write(text: str) -> None:
    """Write to stdout; quietly not if nobody reads it."""
    with stdout_may_close():
        sys.stdout.write(visible(shown(text)))


def remark(text: str) -> None:
    """A line on stderr, above a bar that stands there; quietly not if nobody reads it."""
    with suppress(OSError):
        if _BARS:
            _BARS[-1](visible(shown(text)))
            return
        sys.stderr.write(f"{visible(shown(text))}\n")
        sys.stderr.flush()


def remark_note(text: str) -> None:
    """A note on stderr, wrapped as tables are."""
    remark(filled(f"Note: {text}"))


def filled(text: str) -> str:
    """One paragraph in lines of 80 columns, but for words that are longer."""
    from textwrap import fill  # noqa: PLC0415 (not needed for most commands)

    return fill(text, _COLUMNS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def complain(message: str) -> None:
    """One paragraph of whole sentences on stderr, in which nothing can move the cursor."""
    text = " ".join(shown(message).split())
    if len(text) > _MOST_COMPLAINED:
        half = _MOST_COMPLAINED // 2
        text = f"{text[:half]}...({len(text) - 2 * half} characters left out)...{text[-half:]}"
    text += "" if text.endswith((".", "?", "!")) else "."
    try:
        sys.stderr.write(f"mlcheck: {visible(printable(text))}\n")
        sys.stderr.flush()
    except OSError:
        return


def printable(text: str) -> str:
    """`text` in one line in which nothing can move the cursor."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def visible(text: str) -> str:
    """`text` in which nothing can move the cursor, and the runner of a workflow finds no command; its lines stay."""
    if not text.isprintable():
        text = "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
    return disarmed(text) if in_workflow() else text


def shown(text: str) -> str:
    """`text` without secrets, once any are known."""
    if not (GIVEN.found or GIVEN.patterns):
        return text
    from multilang_cli.transcript.redact import everywhere  # noqa: PLC0415 (slow to import, and not needed for help)

    return everywhere().known_in(text)


@contextmanager
def progress_line(*, verbose: bool, quiet: bool, every: float = EVERY) -> Iterator[Progress | None]:
    """Says on stderr which case runs: each on a line of its own if `verbose`, else by a bar on a terminal.

    Where stderr is a file or the log of a CI, a line says each `every` seconds how far it is.
    """
    terminal = on_terminal()
    if verbose:
        yield _name
    elif quiet:
        yield None
    elif not terminal:
        with _Log(every) as log:
            yield log
    else:
        from multilang_cli.terminal.bar import Bar  # noqa: PLC0415 (slow to import)

        with Bar() as bar:
            _BARS.append(bar.say)
            try:
                yield lambda text, done, total: bar(printable(text), done, total)
            finally:
                _BARS.pop()


def on_terminal() -> bool:
    """True if stderr is a terminal on which a line can be drawn again."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class _Log:
    """Says by the clock what was begun last: a case may take longer than a CI waits for a sign of life."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._began = time.monotonic()
        self._last = ""
        self._over = threading.Event()
        self._clock = threading.Thread(target=self._tell, name="progress", daemon=True)

    def __call__(self, case: str, done: int, total: int) -> None:
        self._last = f"{done + 1}/{total} {case}"

    def _tell(self) -> None:
        while not self._over.wait(self._every):
            if self._last:
                remark(f"{self._last}  ({time.monotonic() - self._began:.0f} s)")

    def __enter__(self) -> Self:
        self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._clock.join()


def _name(case: str, done: int, total: int) -> None:
    sys.stderr.write(f"{done + 1}/{total} {case}\n")
    sys.stderr.flush()
