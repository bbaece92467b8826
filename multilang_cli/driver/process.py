"""A component as a process: started as Storm starts one, three pipes, its true end, and nothing left of it.

This moves bytes. What they mean is not known here: `Session` frames and judges them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Self

from multilang_cli.driver import pids, reaper
from multilang_cli.driver.launch import LaunchError, refused
from multilang_cli.driver.pipes import (
    PIPE_SIZE,
    PLAIN_PIPE,
    READY,
    SMALL_PIPE,
    Looking,
    Ready,
    Three,
    make_pipes,
    resize,
    unread,
)
from multilang_cli.driver.reaper import REAPER
from multilang_cli.driver.scratch import make_registered
from multilang_cli.protocol.words.events import Exited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

READ_SIZE = 64 * 1024
"""Bytes that one read asks for. From 128 KiB on malloc maps memory each time: small reads take ten times longer."""
STDERR_KEPT = 64 * 1024
"""Bytes of stderr that are kept, its end."""
_PID_DIR = "mlcheck-pids-as-long-as-those-of-storm-local-workers-"
"""A worker's is `storm.local.dir`/workers/UUID/pids: what has room for less has to show it here."""
_WITHOUT_PIDFD = 0.02
"""Seconds between looks at the process where the system can't wake us."""


class BrokenStdin(Exception):  # noqa: N818 - a state of the component, not an error of ours
    """The component's stdin has no reader any more."""


TERM_WAIT = 2.0
"""Seconds that a process is given to end after SIGTERM."""
NO_READER = "broken pipe: nobody reads the component's stdin any more."
"""What is said of that."""


def private_pid_dir() -> Path:
    """Make an empty folder for the pid file, which only we can read. `ComponentProcess.end` removes it.

    Raises LaunchError.
    """
    try:
        return make_registered(_PID_DIR)[1]
    except OSError as error:
        raise LaunchError("refused", f"no folder can be made for its pid: {error.strerror or error}") from error


class ComponentProcess:
    """A running component. Not for use by several threads at once; `end` it, or use it in a `with` statement."""

    def __init__(self, child: subprocess.Popen[bytes], pipes: Three, pid_dir: Path, cookie: str) -> None:
        """See `start`. `pipes`: our ends of stdin, stdout and stderr."""
        self.argv: tuple[str, ...] = tuple(map(str, child.args))  # type: ignore[arg-type]
        self.pid = child.pid
        self.pid_dir = pid_dir
        self.cookie = cookie
        self.stdout_total = 0
        self.stderr_total = 0
        self.swept = 0
        self.listening = True
        self._child = child
        self._tail = bytearray()
        self._sealed = False
        self._exit: Exited | None = None
        self._ended = False
        self._stdin: int | None = pipes[0]
        self._stdout: int | None = pipes[1]
        self._stderr: int | None = pipes[2]
        self.inodes = tuple(os.fstat(fd).st_ino for fd in pipes)
        self._pidfd = _pidfd(child.pid)
        self._poller = select.poll()
        self._bits = {pipes[0]: 1, pipes[1]: 2, pipes[2]: 4}
        self._polls_stdin = False
        self._looking = Looking(self._poller)
        self._holds = False
        self._size = PIPE_SIZE
        self._poller.register(pipes[1], select.POLLIN)
        self._poller.register(pipes[2], select.POLLIN)
        if self._pidfd is not None:
            self._bits[self._pidfd] = 8
            self._poller.register(self._pidfd, select.POLLIN)

    @classmethod
    def start(cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], pid_dir: Path) -> Self:
        """Start a component: no shell, pipes only, in a session of its own.

        `env` is the whole environment (`worker_environment`). `pid_dir` is removed at the end, with all that is in it.
        Raises LaunchError if the system refuses.
        """
        # A folder of ours is registered already, under the cookie in its name.
        cookie = pid_dir.name.removeprefix(_PID_DIR) if pid_dir.name.startswith(_PID_DIR) else secrets.token_hex(8)
        try:
            theirs, ours = make_pipes()
        except OSError as error:
            reaper.remove_tree(str(pid_dir))
            REAPER.ended(cookie)
            raise refused(argv[0], cwd, env, error) from error
        try:
            REAPER.expect(cookie, str(pid_dir))
            with REAPER.starting:
                child = subprocess.Popen(
                    list(argv),
                    stdin=theirs[0],
                    stdout=theirs[1],
                    stderr=theirs[2],
                    cwd=cwd,
                    env={**env, reaper.COOKIE_PREFIX + cookie: ""},
                    start_new_session=True,
                )
                REAPER.started(cookie, child.pid)
        except (OSError, ValueError) as error:
            REAPER.ended(cookie)
            for fd in ours:
                os.close(fd)
            reaper.remove_tree(str(pid_dir))
            raise refused(argv[0], cwd, env, error) from error
        except BaseException:
            # An interrupt. Whatever was started by then, the helper ends.
            for fd in ours:
                os.close(fd)
            reaper.remove_tree(str(pid_dir))
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        return cls(child, ours, pid_dir, cookie)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def descriptors(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Our ends of stdin, stdout and stderr, and one that can be read once it is dead; None where there is none."""
        return self._stdin, self._stdout, self._stderr, self._pidfd

    # --- bytes --------------------------------------------------------------------------------------------------

    def poll(self, timeout: float | None, *, want_write: bool) -> Ready:
        """Wait until something can be done, at most `timeout` seconds (None: for good); it may return sooner.

        `exited` is told again each time. Whether stdin can be written is looked at only if `want_write`.
        """
        if want_write != self._polls_stdin:
            self._watch_stdin(want_write)
        if self._pidfd is None:
            timeout = min(_WITHOUT_PIDFD, 3600.0 if timeout is None else timeout)
        mask, bits = 0, self._bits
        for fd, _ in self._poller.poll(None if timeout is None else timeout * 1000):
            mask |= bits[fd]
        if self._pidfd is None and self.exited() is not None:
            mask |= 8
        return READY[mask]

    def exchange(self, data: bytes, timeout: float) -> bytes | None:
        """Write a short message and return the first bytes of stdout after it: `write`, `poll`, `read_stdout` in one.

        None if nothing was written; b"" if within `timeout` seconds nothing came, or something else came first, which
        `poll` will tell again. Raises BrokenStdin.
        """
        stdout = self._stdout
        if self._stdin is None or stdout is None or self._pidfd is None or self._polls_stdin:
            return None
        try:
            os.write(self._stdin, data)
        except BlockingIOError:
            return None
        except BrokenPipeError as error:
            raise BrokenStdin(NO_READER) from error
        if self._looking.poll(timeout) != [(stdout, select.POLLIN)]:
            return b""
        answer = os.read(stdout, READ_SIZE)
        self.stdout_total += len(answer)
        return answer

    def _watch_stdin(self, want_write: bool) -> None:
        if self._stdin is None:
            return
        self._polls_stdin = want_write
        if want_write:
            self._poller.register(self._stdin, select.POLLOUT)
        else:
            self._poller.unregister(self._stdin)

    def hold_stdout(self, *, hold: bool) -> None:
        """Let `poll` not tell of stdout, but of its end; the pipe is made small, so that it is soon full."""
        self._holds = hold
        if self._stdout is not None:
            self._watch_stdout()
            resize(self._stdout, SMALL_PIPE if hold else self._size)

    def listen(self, *, listening: bool) -> None:
        """Let `poll` tell of stdout, or of its end alone, as long as Storm is busy with something else."""
        if listening != self.listening:
            self.listening = listening
            self._watch_stdout()

    def _watch_stdout(self) -> None:
        if self._stdout is not None:
            self._poller.modify(self._stdout, select.POLLIN if self.listening and not self._holds else 0)

    def use_plain_pipes(self) -> None:
        """Make stdin and stdout as small as Storm's are, which asks for no size; nothing may be in them yet."""
        self._size = PLAIN_PIPE
        for fd in (self._stdin, self._stdout):
            if fd is not None:
                resize(fd, PLAIN_PIPE)

    def read_stdout(self, size: int = READ_SIZE) -> bytes | None:
        """Return what stands in stdout, at most `size` bytes; b"" if there is nothing now, None at its end."""
        if self._stdout is None:
            return None
        try:
            data = os.read(self._stdout, size)
        except BlockingIOError:
            return b""
        if not data:
            self._close(self._stdout)
            self._stdout = None
            return None
        self.stdout_total += len(data)
        return data

    def read_stderr(self) -> bytes | None:
        """Return what stands in stderr, as `read_stdout` does; its end is kept in `stderr_tail`."""
        if self._stderr is None:
            return None
        try:
            data = os.read(self._stderr, READ_SIZE)
        except BlockingIOError:
            return b""
        if not data:
            self._close(self._stderr)
            self._stderr = None
            return None
        self.stderr_total += len(data)
        if self._sealed:
            return data
        self._tail += data[-STDERR_KEPT:]
        if len(self._tail) > 2 * STDERR_KEPT:
            del self._tail[:-STDERR_KEPT]
        return data

    @property
    def stderr_tail(self) -> bytes:
        """The last STDERR_KEPT bytes of stderr that were read, of those that it wrote unasked."""
        return bytes(self._tail[-STDERR_KEPT:])

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Write what fits into the component's stdin, and return how many bytes that were. Raises BrokenStdin."""
        if self._stdin is None:
            raise BrokenStdin("the component's stdin is closed.")
        try:
            return os.write(self._stdin, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError as error:
            raise BrokenStdin(NO_READER) from error

    def has_reader(self) -> bool:
        """True unless nobody reads the component's stdin any more; nothing is written to see it."""
        poller = select.poll()
        if self._stdin is not None:
            poller.register(self._stdin, 0)
        return not poller.poll(0)

    def close_stdin(self) -> None:
        """Let the component see the end of its stdin."""
        if self._stdin is not None:
            if not self._polls_stdin:
                self._poller.register(self._stdin, 0)
            self._polls_stdin = False
            self._close(self._stdin)
            self._stdin = None

    def close_stdout(self) -> None:
        """Have nobody read the component's stdout any more; what stands in it is lost."""
        if self._stdout is not None:
            self._close(self._stdout)
            self._stdout = None

    def _close(self, fd: int) -> None:
        self._poller.unregister(fd)
        os.close(fd)

    def stdin_unread(self) -> int | None:
        """Return how many bytes of its stdin the component has not read yet; None if it is closed."""
        return unread(self._stdin)

    def stdout_unread(self) -> int | None:
        """Return how many bytes of its stdout are still to be read by us; None after its end."""
        return unread(self._stdout)

    def stderr_unread(self) -> int | None:
        """Return how many bytes of its stderr are still to be read by us; None after its end."""
        return unread(self._stderr)

    # --- its pid ------------------------------------------------------------------------------------------------

    def relation(self, announced: int) -> pids.Relation:
        """Say whose pid an announced one is, see `pids.relation`."""
        return pids.relation(announced, self.pid, self.cookie)

    def pid_file(self, announced: int) -> pids.PidFile:
        """Say whether the file of an announced pid is there, see `pids.pid_file`."""
        return pids.pid_file(self.pid_dir, announced)

    # --- the end ------------------------------------------------------------------------------------------------

    def exited(self) -> Exited | None:
        """Return how the process itself ended, None while it lives.

        Its pipes may still hold something, and its children may still hold its pipes: that is another question. The
        process stays a zombie until `end`, so that its pid keeps meaning it.
        """
        if self._exit is None:
            self._exit = self._look()
        return self._exit

    def _look(self) -> Exited | None:
        if sys.platform != "linux":
            code = self._child.poll()
            if code is None:
                return None
            return Exited(code=code) if code >= 0 else Exited(signal=-code)
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        if found.si_code == os.CLD_EXITED:
            return Exited(code=found.si_status)
        return Exited(signal=found.si_status)

    def wait_exit(self, limit: float) -> Exited | None:
        """Wait at most `limit` seconds for the process to end; nothing is read or written meanwhile."""
        poller = select.poll()
        if self._pidfd is not None:
            poller.register(self._pidfd, select.POLLIN)
        deadline = time.monotonic() + limit
        while self.exited() is None and (left := deadline - time.monotonic()) > 0:
            poller.poll((left if self._pidfd is not None else min(left, _WITHOUT_PIDFD)) * 1000)
        return self.exited()

    def ask(self, number: int) -> None:
        """Send a signal to all that it runs as, to which it answers; what comes on stderr is not kept."""
        self._sealed = True
        reaper.kill_group(self.pid, number)

    def signal(self, number: int) -> None:
        """Send the process a signal, and no other, as ``Process.destroy`` does; nothing if it is dead."""
        if self.exited() is None:
            reaper.kill(self.pid, number)

    def catches(self, number: int) -> bool:
        """True if the process has a handler of its own for a signal, as /proc shows it."""
        status = reaper.read_proc(f"/proc/{self.pid}/status")
        return bool(reaper.signals_of(status, b"SigCgt") >> (number - 1) & 1)

    def end(self, term_wait: float = TERM_WAIT, kill_wait: float = 30.0) -> Exited | None:
        """End the process and all it has started, and remove the pid folder. Returns how the process ended.

        Closes stdin, then SIGTERM to its group; what is left after `term_wait` seconds, or as soon as the process is
        dead, is killed. `swept` says how many were. None only if the system can't end it within `kill_wait` seconds.
        What still stands in stdout is lost, what stands in stderr goes to `stderr_tail`.
        """
        if self._ended:
            return self._exit
        family = reaper.descendants(self.pid)
        try:
            self.close_stdin()
            if self.exited() is None:
                reaper.kill_group(self.pid, signal.SIGTERM)
                self._drain(term_wait)
        finally:
            self._finish(family, kill_wait)
        return self._exit

    def _drain(self, limit: float) -> None:
        """Wait for the process to end, reading what it says, so that no full pipe keeps it."""
        deadline = time.monotonic() + limit
        while self.exited() is None and (left := deadline - time.monotonic()) > 0:
            ready = self.poll(left, want_write=False)
            if ready.stdout:
                self.read_stdout()
            if ready.stderr:
                self.read_stderr()

    def _finish(self, family: reaper.Tree, kill_wait: float) -> None:
        self._ended = True
        if self.exited() is None:
            family |= reaper.descendants(self.pid)
            reaper.kill_group(self.pid, signal.SIGKILL)
            self.wait_exit(kill_wait)
        family.pop(self.pid, None)
        cookie = (reaper.COOKIE_PREFIX + self.cookie).encode()
        self.swept = reaper.sweep({self.pid}, (cookie,), family, kill_wait)
        while self._stderr is not None and self.read_stderr():
            pass
        for fd in (self._stdin, self._stdout, self._stderr, self._pidfd):
            if fd is not None:
                os.close(fd)
        self._stdin = self._stdout = self._stderr = self._pidfd = None
        reaper.remove_tree(str(self.pid_dir))
        if self._exit is not None:
            self._child.wait()
            REAPER.ended(self.cookie)


def _pidfd(pid: int) -> int | None:
    """Return a descriptor that can be read once the process is dead; None where the system has none to give."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return None
