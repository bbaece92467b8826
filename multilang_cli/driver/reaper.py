"""Nothing is left behind: the processes of a component, and a helper process that ends them if mlcheck cannot.

Imported, this is mlcheck's side. Run as a program (``python -I -S reaper.py``, hence the standard library only, and as
little of it as can be) it is the helper: it reads registrations from its stdin, a pipe whose other end only mlcheck
holds. However mlcheck ends, SIGKILL included, that pipe ends too, and the helper kills what is still registered.

A component's processes are found in three ways, so that each covers for the others: by the process group and session
they were started in; by a cookie in their environment, which descendants inherit even through `setsid` and
double forks; and as descendants, while their parents live. A process that leaves its session, clears its environment
*and* loses its parent becomes a child of ours, where Linux makes us a subreaper (`Reaper.adopts`, `strays`): it gets
away only from a mlcheck that is killed. Without /proc and subreapers (macOS) the process group is all there is.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import stat
import sys
import threading
import time

COOKIE_PREFIX = "MLCHECK_COMPONENT_"
"""Each component has an environment variable of this prefix and its cookie; nested ones have several."""

_SWEEP_PAUSE = 0.005
_SWEEP_LIMIT = 10.0
_CALM = 0.2
"""Seconds without a survivor after which the helper is done: a fork may have been under way when mlcheck died."""

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""
_NEAR_PIDS = 1 << 16
"""Pids behind a component's in which its children are looked for where the system does not list them."""

Tree = dict[int, bytes]
"""Processes by pid, with their start time: together they are never used again."""


def read_proc(path: str) -> bytes:
    """Return what stands in a file of /proc, b"" if the process is gone or not ours to look at."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        parts = []
        while part := os.read(fd, 65536):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(fd)


def signals_of(status: bytes, mask: bytes) -> int:
    """Return a mask of signals, such as ``SigCgt``, of the text of /proc/PID/status: bit N - 1 is signal N."""
    return int(next((line.split()[1] for line in status.splitlines() if line.startswith(mask + b":")), b"0"), 16)


def stat_fields(pid: int | str) -> list[bytes]:
    """Return the fields of /proc/PID/stat from the third on: state, ppid, pgrp, session ...; [] if it is gone."""
    return read_proc(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def start_time(pid: int) -> bytes:
    """Return when a living process started, in the kernel's ticks as text; b"" if it is gone or a zombie."""
    fields = stat_fields(pid)
    return fields[19] if fields and fields[0] not in b"ZX" else b""


def entries(folder: str) -> list[str]:
    """Return the names in a folder of /proc that are numbers; [] if it is gone."""
    try:
        with os.scandir(folder) as found:
            return [entry.name for entry in found if entry.name.isdigit()]
    except OSError:
        return []


def descendants(pid: int) -> Tree:
    """Return the living descendants of a process, itself not included, as far as their parents live."""
    found: Tree = {}
    todo = [pid]
    while todo:
        for child in children(todo.pop()):
            started = start_time(child)
            if started and child not in found:
                found[child] = started
                todo.append(child)
    return found


def children(pid: int) -> list[int]:
    """Return the children of a process, those that ended and that it did not wait for too."""
    tasks = entries(f"/proc/{pid}/task")
    return [int(child) for task in tasks for child in read_proc(f"/proc/{pid}/task/{task}/children").split()]


def carries(pid: int | str, cookies: tuple[bytes, ...]) -> bool:
    """Tell whether a process has one of these cookies in the environment it was started with."""
    environ = read_proc(f"/proc/{pid}/environ")
    return any(cookie in environ for cookie in cookies)


def survivors(groups: set[int], cookies: tuple[bytes, ...]) -> Tree:
    """Return all living processes of these groups or sessions, or with one of these cookies."""
    found: Tree = {}
    for name in entries("/proc"):
        fields = stat_fields(name)
        if not fields or fields[0] in b"ZX":
            continue
        if int(fields[2]) in groups or int(fields[3]) in groups or carries(name, cookies):
            found[int(name)] = fields[19]
    found.pop(os.getpid(), None)
    return found


def strays(known: set[int], after: int) -> list[int]:
    """Return the living children of this process that nobody here started, and let the dead ones go.

    A component leads a session of its own, and what it starts belongs to that or to a newer one; what else mlcheck
    starts stays in ours, but for the children in `known`. `after`: the pid of a component that ran.
    """
    found = []
    ours = os.getsid(0)
    for pid in _children(after):
        with contextlib.suppress(OSError):
            if pid not in known and os.getsid(pid) != ours and not os.waitpid(pid, os.WNOHANG)[0]:
                found.append(pid)
    return found


def _children(after: int) -> list[int]:
    tasks = entries("/proc/self/task")
    if not tasks:
        return [pid for pid in range(after + 1, after + _NEAR_PIDS) if _is_child(pid)]
    return [int(pid) for task in tasks for pid in read_proc(f"/proc/self/task/{task}/children").split()]


def _is_child(pid: int) -> bool:
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except OSError:
        return False
    return True


def remove_tree(path: str) -> None:
    """Remove a folder and all that is in it, or whatever stands in its place, as far as the system lets us.

    A component may nest it deeper than a path, a stack or a table of descriptors can hold, so each folder is moved to
    the top before it is emptied. No link is followed.
    """
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)  # noqa: PTH108 (the helper has no pathlib)
            return
        os.chmod(path, stat.S_IRWXU)  # noqa: PTH101
        top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            folders = _emptied(top, top)
            while folders:
                name = folders.pop()
                with contextlib.suppress(OSError):
                    below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
                    try:
                        folders += _emptied(below, top)
                    finally:
                        os.close(below)
                    os.rmdir(name, dir_fd=top)
        finally:
            os.close(top)
        os.rmdir(path)  # noqa: PTH106


def _emptied(folder: int, top: int) -> list[str]:
    """Remove the files of an open folder, and move its folders to the top; their names there."""
    moved = []
    with os.scandir(folder) as found:
        inside = list(found)
    for entry in inside:
        with contextlib.suppress(OSError):
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.name, dir_fd=folder)
                continue
            name = f".mlcheck-{os.urandom(8).hex()}"
            os.chmod(entry.name, stat.S_IRWXU, dir_fd=folder)
            os.rename(entry.name, name, src_dir_fd=folder, dst_dir_fd=top)
            moved.append(name)
    return moved


def kill(pid: int, signal_number: int) -> None:
    """Send a signal, whether or not the process is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal_number)


def kill_group(group: int, signal_number: int) -> None:
    """Send a signal to a process group, whether or not it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal_number)


def sweep(groups: set[int], cookies: tuple[bytes, ...], known: Tree, limit: float, calm: float = 0.0) -> int:
    """Kill what is left of these groups, cookies and known processes, until nothing is.

    `limit` and `calm` in seconds: when to give up, and how long nothing must be left before it is believed. Returns how
    many processes were found.
    """
    now = time.monotonic()
    deadline, calm_since = now + limit, now
    killed: Tree = {}
    unkilled = list(groups)  # once only: the number of an empty group may be given to another
    while now < deadline:
        left = survivors(groups, cookies) | {p: t for p, t in (known | killed).items() if start_time(p) == t}
        for pid in list(left):
            left |= descendants(pid)
        while unkilled:
            kill_group(unkilled.pop(), signal.SIGKILL)
        for pid in left:
            kill(pid, signal.SIGKILL)
        killed |= left
        now = time.monotonic()
        calm_since = now if left else calm_since
        if not left and now - calm_since >= calm:
            break
        time.sleep(_SWEEP_PAUSE)
        now = time.monotonic()
    return len(killed)


class Reaper:
    """mlcheck's end of the helper. It is started with the first component; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records: dict[str, list[bytes]] = {}
        self._pipe: int | None = None
        self._pid = 0
        self.adopts = False
        """True where this process may end whatever becomes its child: that of a command, not that of a user's."""
        self._started: dict[str, int] = {}
        self._first = 0
        self.starting = threading.Lock()
        """Held from before a process is started in a session of its own until it is registered."""

    def _adopt(self) -> None:
        """Have orphans of components become our children, where the system has subreapers."""
        if self.adopts and sys.platform == "linux":
            import ctypes  # noqa: PLC0415 (not everybody starts components)

            ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)

    def _end_strays(self) -> None:
        """End what components have left as our children, once none of them runs any more."""
        with self.starting:
            if not self.adopts or not self._first or self._started:
                return
            deadline = time.monotonic() + _SWEEP_LIMIT
            while (left := strays(set(), self._first)) and time.monotonic() < deadline:
                for pid in left:
                    kill(pid, signal.SIGKILL)
                time.sleep(_SWEEP_PAUSE)

    def expect(self, cookie: str, pid_dir: str) -> None:
        """Register a component that is about to be started, and a folder to remove with it. Raises OSError."""
        self._tell(cookie, b"+ %s %s\0" % (cookie.encode(), os.fsencode(pid_dir)))

    def started(self, cookie: str, pid: int) -> None:
        """Add the process, which leads a session of its own."""
        self._started[cookie] = pid
        self._first = self._first or pid
        # If the helper died and no other can be started: the cookie is with the next one.
        with contextlib.suppress(OSError):
            self._tell(cookie, b"= %s %d\0" % (cookie.encode(), pid))

    def ended(self, cookie: str) -> None:
        """Forget a component of which nothing is left."""
        self._started.pop(cookie, None)
        self._end_strays()
        with self._lock:
            self._records.pop(cookie, None)
            if self._pipe is not None:
                # A dead helper needs no telling: the next start makes a new one.
                with contextlib.suppress(BrokenPipeError):
                    os.write(self._pipe, b"- %s \0" % cookie.encode())

    def close(self) -> None:
        """Let the helper end what is still registered, and wait for it."""
        with self._lock:
            if self._pipe is not None:
                os.close(self._pipe)
                self._pipe = None
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(self._pid, 0)

    def _tell(self, cookie: str, record: bytes) -> None:
        with self._lock:
            self._records.setdefault(cookie, []).append(record)
            try:
                if self._pipe is not None:
                    os.write(self._pipe, record)
                    return
                atexit.register(self.close)
            except BrokenPipeError:  # somebody killed the helper
                os.close(self._pipe)  # type: ignore[arg-type]
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(self._pid, 0)
            self._start()

    def _start(self) -> None:
        self._adopt()
        read_end, self._pipe = os.pipe()
        try:
            # Not the cookies of a mlcheck around this one: the helper must outlive what it cleans up after.
            env = {key: value for key, value in os.environ.items() if not key.startswith(COOKIE_PREFIX)}
            self._pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", "-E", __file__],
                env,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, read_end, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setpgroup=0,
            )
        except OSError:
            os.close(self._pipe)
            self._pipe = None
            raise
        finally:
            os.close(read_end)
        for records in self._records.values():
            os.write(self._pipe, b"".join(records))


REAPER = Reaper()
"""One for the whole process."""


def _registrations() -> dict[bytes, tuple[int, bytes]]:
    """Read registrations to the end of stdin; return what is left then: pid (0 if not known) and folder by cookie."""
    left: dict[bytes, tuple[int, bytes]] = {}
    rest = b""
    while data := os.read(0, 65536):
        *records, rest = (rest + data).split(b"\0")
        for record in records:
            what, cookie, value = record.split(b" ", 2)
            if what == b"+":
                left[cookie] = (0, value)
            elif what == b"=":
                left[cookie] = (int(value), left[cookie][1])
            else:
                left.pop(cookie, None)
    return left


def main() -> None:
    """Be the helper: wait for the end of mlcheck, then end what it left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # What mlcheck's own parent let it inherit would keep that parent waiting.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    left = _registrations()
    if not left:
        return
    groups = {pid for pid, _ in left.values() if pid}
    sweep(groups, tuple(COOKIE_PREFIX.encode() + cookie for cookie in left), {}, _SWEEP_LIMIT, _CALM)
    for _, pid_dir in left.values():
        remove_tree(os.fsdecode(pid_dir))


if __name__ == "__main__":
    main()
