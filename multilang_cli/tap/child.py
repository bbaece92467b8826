"""Starts the component behind the tap just as Storm would have: same words, environment, directory and signals.

Standard library only, but for how a command is found. Not ``subprocess``: the component must die with the tap, must
not see what Python does to a process's environment, and a signal that comes meanwhile must not be lost.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.driver.launch import LaunchError, refused, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FORWARDED = tuple(
    number
    for number in sorted(signal.valid_signals())
    if number
    in {
        *(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGALRM),
        *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGCONT),
        *range(getattr(signal, "SIGRTMIN", 0), getattr(signal, "SIGRTMAX", -1) + 1),
    }
)
"""Signals that are meant for the component."""

_PARENT_DEATH = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
_DEFAULT_AGAIN = (signal.SIGPIPE, signal.SIGXFSZ)
"""What Python ignores in itself, and no component expects to be ignored."""


class Child(NamedTuple):
    """A running component: its pid, our ends of its stdin, stdout and stderr, and a descriptor that tells its end."""

    pid: int
    stdin: int
    stdout: int
    stderr: int
    pidfd: int | None


def original_environment() -> dict[bytes, bytes]:
    """The environment that the tap was given: before Python wrote LC_CTYPE into it, which it does in a C locale."""
    try:
        text = Path("/proc/self/environ").read_bytes()
    except OSError:
        return dict(os.environb)
    return dict(entry.partition(b"=")[::2] for entry in text.split(b"\0") if b"=" in entry)


def _here() -> Path:
    """The working directory. A component that needs none must not need one because it is tapped."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path()


def found(words: list[str], env: dict[bytes, bytes]) -> tuple[str, list[str]]:
    """The program to execute and its words, the first as Storm would pass it. Raises LaunchError."""
    launch = resolve(words, _here(), {os.fsdecode(key): os.fsdecode(value) for key, value in env.items()})
    return launch.argv[0], list(launch.argv if len(words) == 1 else words)


def start(words: list[str], env: dict[bytes, bytes], on_signal: Callable[[int, int], None]) -> Child:
    """Start a component. Raises LaunchError.

    From before it runs, `on_signal` is called, in this thread, with its pid and each signal that is meant for it. A
    signal that was ignored stays so, for the tap and the component.
    """
    program, argv = found(words, env)
    signals = [number for number in FORWARDED if signal.getsignal(number) is not signal.SIG_IGN]
    prepared = _Prepared(signals, signal.getsignal(signal.SIGCHLD), os.getpid(), own_group=_at_terminal())
    if prepared.on_child is signal.SIG_IGN:
        # Else the system throws the exit code away.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        theirs, ours = _pipes()
        failed_read, failed_write = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                if prctl is not None:
                    prctl(_PARENT_DEATH, int(signal.SIGKILL), 0, 0, 0)
                _settle(prepared, theirs)
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                _execute(program, argv, env)
            except OSError as error:
                os.write(failed_write, str(error.errno).encode())
            finally:
                os._exit(127)
        for number in signals:
            signal.signal(number, lambda number, _: on_signal(pid, number))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    for fd in (*theirs, failed_write):
        os.close(fd)
    _started(failed_read, pid, ours, program, env)
    return Child(pid, *ours, _pidfd(pid))


class _Prepared(NamedTuple):
    """Facts known before the fork: signals to reset, what SIGCHLD does, the pid of the tap."""

    signals: list[signal.Signals]
    on_child: Any
    tap: int
    own_group: bool


def _settle(prepared: _Prepared, pipes: tuple[int, int, int]) -> None:
    """Between fork and exec: have the pipes, group and signals that the component would have without us."""
    if os.getppid() != prepared.tap:
        os._exit(127)
    if prepared.own_group:
        os.setpgid(0, 0)
    for number, fd in enumerate(pipes):
        os.dup2(fd, number)
    for each in prepared.signals:
        signal.signal(each, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, prepared.on_child)


def replace(words: list[str], env: dict[bytes, bytes]) -> None:
    """Become the component: nothing of the tap is left. Raises LaunchError."""
    program, argv = found(words, env)
    try:
        for number in FORWARDED:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        _execute(program, argv, env)
    except OSError as error:
        raise _refused(program, env, error) from error


def _execute(program: str, argv: list[str], env: Mapping[bytes, bytes]) -> None:
    """Become a program, with the signals that Python ignores as they were. Raises OSError."""
    for number in _DEFAULT_AGAIN:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(program, argv, env)  # noqa: S606 (no shell, as Storm does it)
    except OSError as error:
        # As execvp(3) and Java do it, a file with no shebang is given to sh.
        if error.errno != errno.ENOEXEC:
            raise
        os.execve("/bin/sh", ["sh", program, *argv[1:]], env)  # noqa: S606


def _pipes() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The component's ends of stdin, stdout and stderr, and ours, which never block.

    They are as large as the system makes them: a component must not get further ahead than it would without the tap.
    """
    (in_read, in_write), (out_read, out_write), (err_read, err_write) = os.pipe(), os.pipe(), os.pipe()
    ours = (in_write, out_read, err_read)
    for fd in ours:
        os.set_blocking(fd, False)
    return (in_read, out_write, err_write), ours


def _started(failed: int, pid: int, ours: tuple[int, int, int], program: str, env: dict[bytes, bytes]) -> None:
    """Wait until the component runs. Raises LaunchError if it does not."""
    with os.fdopen(failed, "rb") as file:
        number = file.read()
    if number:
        os.waitpid(pid, 0)
        for fd in ours:
            os.close(fd)
        raise _refused(program, env, OSError(int(number), os.strerror(int(number))))


def _refused(program: str, env: dict[bytes, bytes], error: OSError) -> LaunchError:
    return refused(program, Path.cwd(), {os.fsdecode(key): os.fsdecode(value) for key, value in env.items()}, error)


def _at_terminal() -> bool:
    """True if a Ctrl-C reaches our whole process group: then the component needs one of its own, to get it once."""
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(fd)


def _pidfd(pid: int) -> int | None:
    """A descriptor that can be read once the process is dead; None where the system has none to give."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None
