"""Ctrl-C, and a CI's SIGTERM: the first ends the work, wherever it comes. And what our parent did about signals."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from multilang_cli.terminal.exits import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ENDING = (signal.SIGINT, signal.SIGTERM)
_INHERITED = (*_ENDING, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)
"""What a component would ignore too, were it ignored here; those of job control need a terminal."""
_SENT_AGAIN_AFTER = 0.01
"""Seconds after which an interrupt that was lost is sent again."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for both signals. Whoever started us with a signal ignored, such as nohup, meant it."""
    for number in _ENDING:
        if signal.getsignal(number) not in {signal.SIG_IGN, _unheeded}:
            signal.signal(number, _interrupted)
    before = sys.unraisablehook
    sys.unraisablehook = partial(_unraisable, before)
    try:
        yield
    except Exception as error:
        if not of_interrupt(error):
            raise
        raise KeyboardInterrupt from error
    finally:
        sys.unraisablehook = before


def of_interrupt(error: BaseException | None) -> bool:
    """True if an interrupt is behind it.

    Python before 3.12 makes a RuntimeError of whatever ``__set_name__`` raises, and modules that are imported make
    classes with such names all the time; libraries wrap what they catch as well.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def have_usual_signals() -> None:
    """Have components start with signals as in a worker: none blocked, none ignored. What is ignored here stays so.

    A handler is forgotten by who is started, an ignored signal is not; and where SIGCHLD is ignored, the system throws
    the exit codes of children away.
    """
    for number in _INHERITED:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _unheeded)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def ignore_again() -> None:
    """Ignore what was ignored before ``have_usual_signals``.

    Python gives its handlers up as it ends, and what came then would end it.
    """
    for number in _INHERITED:
        if signal.getsignal(number) is _unheeded:
            signal.signal(number, signal.SIG_IGN)


def end_at_once() -> None:
    """Have both signals end the process from now on; what it leaves among temporary files goes with it all the same."""
    for number in _ENDING:
        if signal.getsignal(number) is _interrupted:
            signal.signal(number, _end)


def _end(number: int, frame: object) -> None:
    del number, frame
    os._exit(ExitCode.INTERRUPTED)


def _unheeded(number: int, frame: object) -> None:
    """Do nothing."""
    del number, frame


def _interrupted(number: int, frame: object) -> None:
    """Raise for the first signal only: what is cleaned up now is not interrupted again."""
    del number, frame
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _unraisable(tell: Callable[[sys.UnraisableHookArgs], object], lost: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised in a destructor. An interrupt that came just then must not look like success."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        signal.signal(signal.SIGALRM, _interrupted)
        signal.setitimer(signal.ITIMER_REAL, _SENT_AGAIN_AFTER)
    else:
        tell(lost)
