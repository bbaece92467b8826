"""From whatever happens in a command to its exit code, and to one paragraph on stderr."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.interrupts import interruptible
from multilang_cli.terminal.output import abandon_stdout, complain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NOT_THERE = frozenset(
    {
        *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY, errno.ELOOP, errno.ENAMETOOLONG),
        *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENXIO, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE),
    }
)
"""Errors of the system that are of the machine, or of the path that was named."""
_LOOP = "Symlink loop from"
"""What pathlib says of links that lead to each other, before Python 3.13."""


def exit_code_of(work: Callable[[], int], arguments: Sequence[str]) -> int:
    """The exit code of `work`, which is the command in `arguments`. Never raises: what goes wrong is a paragraph."""
    try:
        with interruptible():
            return work()
    except CommandError as error:
        _hide_secrets_in(arguments)
        complain(error.message)
        return error.code
    except KeyboardInterrupt:
        complain("interrupted.")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the last resort: no traceback in front of a user)
        if why := _why_not(error):
            complain(why)
            return ExitCode.MISUSE
        from multilang_cli.terminal.fault import report_fault  # noqa: PLC0415

        complain(report_fault(error, arguments))
        return ExitCode.HARNESS_FAULT


def _why_not(error: Exception) -> str:
    """The sentence of what the system refuses, where that is no fault of ours; else ""."""
    if isinstance(error, RuntimeError) and str(error).startswith(_LOOP):
        return f"{error}; choose another path."
    if not isinstance(error, OSError):
        return ""
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) and error.filename else ""
    if error.errno in _FULL:
        abandon_stdout()
        return f"{where}can't write: {error.strerror}. Make room, or write elsewhere."
    if not where and _stdout_refuses(error):
        abandon_stdout()
        return f"stdout can't be written: {error.strerror}."
    return f"{where}{error.strerror}; choose another, or mend it." if where and error.errno in _NOT_THERE else ""


def _stdout_refuses(error: OSError) -> bool:
    """True if it comes from stdout: one that is open for reading only, or a terminal that is gone."""
    try:
        os.write(sys.stdout.fileno(), b"")
    except OSError as again:
        return again.errno is not None and again.errno == error.errno
    return False


def _hide_secrets_in(arguments: Sequence[str]) -> None:
    """Know the secrets of the command line itself, which a complaint may quote."""
    from multilang_cli.transcript.secrets import declare  # noqa: PLC0415 (slow to import, and only for a mistake)

    declare((), arguments)
