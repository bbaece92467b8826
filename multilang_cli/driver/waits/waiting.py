"""Detection of who waits on whom: what a component and its descendants are doing, as far as Linux tells.

/proc is read, nothing is disturbed. Where it is missing or closed to us the answer is `unknown`, never an exception.
"""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.driver import reaper
from multilang_cli.driver.waits import descriptors, runtimes, times
from multilang_cli.driver.waits.syscalls import BY_NAME, KERNEL_FUNCTIONS, Call, Kind, calls
from multilang_cli.driver.waits.who_waits import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.driver.process import ComponentProcess

_UNTOLD: frozenset[State] = frozenset({"unknown", "elsewhere", "waiting-signal", "stopped", "traced"})
"""States that say nothing about the three pipes."""
_READING: frozenset[State] = frozenset({"reading-stdin", "idle"})
_CALLS = calls(os.uname().machine)
_INNER = ("pipe:", "anon_inode:[eventfd")
"""How the names of descriptors begin through which threads and processes of a family wake each other."""
MOTIONLESS = 1.5
"""Seconds for which no thread of a component moved that does not read its stdin, before it is said to hang."""
_STATES: dict[Kind, State] = {
    "sleep": "sleeping",
    "lock": "waiting-lock",
    "child": "waiting-child",
    "signal": "waiting-signal",
}
_FOREVER = (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)


class Thread(msgspec.Struct, frozen=True):
    """One thread as it was seen. `call`: the system call or kernel function it stands in, "" if not known.

    `quiet`: only stdin, another thread, a child or a signal can wake it, or something else that it polls. `timed`: or
    the end of a time. `switches`: how often it lost the processor; unchanged, it did not run. `args`: of the system
    call, none if that can't be seen.
    """

    pid: int
    tid: int
    state: State
    call: str = ""
    quiet: bool = False
    timed: bool = False
    switches: bytes = b""
    args: tuple[int, ...] = ()


def settled(process: ComponentProcess) -> bool:
    """Tell whether a component has read all it was given, waits for more, and has said all it had to say by then.

    A barrier without a sleep: every thread of every process waits, at least one of them for stdin; stdin is empty and
    nothing is left in stdout. That no thread ran between two looks makes it one moment for all. A
    sleeping thread is not settled; a wait with a time limit (a timer of an event loop) can't be told from an idle one.
    """
    return at_rest(process) and not process.stdout_unread()


def at_rest(process: ComponentProcess) -> bool:
    """Tell whether a component is `settled` but for what it has said, which nobody needs to have read."""
    return bool(_at_rest(process))


def _at_rest(process: ComponentProcess) -> list[Thread]:
    """The threads of a component at rest, as two looks saw them alike; none if it is not."""
    first = list(threads(process))
    if not any(thread.state in _READING for thread in first) or not all(t.quiet for t in first):
        return []
    if process.stdin_unread() != 0 or process.exited() is not None:
        return []
    return first if first == list(threads(process)) and all(thread.switches for thread in first) else []


def reading(process: ComponentProcess) -> bool:
    """Tell whether a component has read all it was given and waits for more; other threads may be at work.

    Where the system does not tell what it waits for, that its stdin is empty has to do.
    """
    if process.stdin_unread() or process.exited() is not None:
        return False
    states = {thread.state for thread in threads(process)}
    return not states.isdisjoint(_READING) or states <= _UNTOLD


def stuck(process: ComponentProcess, within: float = math.inf) -> bool:
    """Tell whether a component will say nothing more, however long one waits, unless it is given something to read.

    So it is if it is `settled` and each thread waits for stdin, for another or for a time that is not over `within` so
    many seconds. What a language's runtime keeps for itself does not count (``runtimes``).
    """
    seen = _held(process, within)
    return any(thread.state in _READING for thread in seen) and not process.stdout_unread()


class Standstill:
    """Finds out that a component hangs which does not read its stdin, so that nothing that Storm says can help it.

    `mark`: the threads at the last look, none unless nothing could wake them.
    """

    def __init__(self, process: ComponentProcess) -> None:
        self._process = process
        self.mark: tuple[Thread, ...] = ()
        self._since = 0.0

    def is_seen(self, within: float) -> bool:
        """True if nothing has moved for MOTIONLESS seconds, and nothing can `within` so many.

        Each thread waits for a lock, a child, a pipe of its own or a time that is not over by then, or was stopped by a
        signal. To be asked again and again: what moved between two looks begins anew.
        """
        seen, now = _held(self._process, within), time.monotonic()
        reads = any(thread.state in _READING for thread in seen)
        unread = self._process.listening and self._process.stdout_unread()
        mark = () if reads or unread else tuple(seen)
        if mark != self.mark:
            self.mark, self._since = mark, now
        return bool(mark) and now - self._since >= MOTIONLESS


def _held(process: ComponentProcess, within: float) -> list[Thread]:
    """The threads of a component that nobody but Storm can wake `within` so many seconds; none if anybody can."""
    first = _own(process)
    stdin, stdout, stderr = pipe_names(process)
    # A full stdout that nobody reads is like a pipe of its own.
    names = (stdin, stdout, stderr) if process.listening else (stdin, stderr)
    if not first or process.exited() is not None or not all(_is_held(thread, names, within) for thread in first):
        return []
    # What stands in stdin wakes who reads it: not seen before the first look, nor after the second.
    if any(thread.state in _READING for thread in first) and process.stdin_unread() != 0:
        return []
    if any(runtimes.may_be_signalled(pid, reaper.read_proc(f"/proc/{pid}/status")) for pid in {t.pid for t in first}):
        return []
    if first != _own(process) or not all(thread.switches for thread in first):
        return []
    # Whoever of the family has left it may still wake it: a daemon with an inherited pipe, a helper that sends signals.
    cookie = (reaper.COOKIE_PREFIX + process.cookie).encode()
    left = set(reaper.survivors({process.pid}, (cookie,))) - {thread.pid for thread in first}
    return [] if left else first


def _own(process: ComponentProcess) -> list[Thread]:
    """The threads of a component without those that its runtime keeps for itself; none if one of those works."""
    seen = list(threads(process))
    kept = [thread for thread in seen if runtimes.housekeeper(thread.pid, thread.tid)]
    return [] if any(t.state == "running" for t in kept) else [thread for thread in seen if thread not in kept]


def _is_held(thread: Thread, names: tuple[str, ...], within: float) -> bool:
    """True if only stdin, another thread or process of the family, or a time that is not over by then can wake it."""
    if thread.state == "stopped":
        return True
    call = BY_NAME.get(thread.call)
    if call is None or not thread.args or call.kind in ("signal", "other"):
        return False
    if call.kind == "write":
        target = descriptors.target(thread.pid, thread.args[0] & 0xFFFFFFFF)
        return target.startswith("pipe:") and target not in names
    if call.kind == "poll" and thread.state != "sleeping" and not _polls_itself_only(thread, call, names[0]):
        return False
    if call.kind == "read" and not thread.quiet:
        return False
    return not thread.timed or times.left(thread.pid, thread.tid, call, thread.args) > within


def threads(process: ComponentProcess) -> Iterator[Thread]:
    """Look at each thread of a component and of its living descendants."""
    names = pipe_names(process)
    empty = process.stdin_unread() == 0
    for pid in sorted({process.pid, *reaper.descendants(process.pid)}):
        for tid in reaper.entries(f"/proc/{pid}/task"):
            seen = _look(pid, int(tid), names, stdin_empty=empty)
            if seen is not None:
                yield seen


def _look(pid: int, tid: int, names: tuple[str, ...], *, stdin_empty: bool) -> Thread | None:
    folder = f"/proc/{pid}/task/{tid}"
    fields = reaper.stat_fields(f"{pid}/task/{tid}")
    if not fields or fields[0] in b"ZX":
        return None
    status = reaper.read_proc(f"{folder}/status")
    switches = b" ".join(line for line in status.splitlines() if b"ctxt_switches" in line)
    if fields[0] == b"R":
        return Thread(pid, tid, "running", switches=switches)
    if fields[0] in b"Tt":
        return Thread(pid, tid, "stopped" if fields[0] == b"T" else "traced", switches=switches)
    words = reaper.read_proc(f"{folder}/syscall").split()
    # Blocked in no system call it waits for a page of memory: it is on its way.
    if words and words[0] in (b"running", b"-1"):
        return Thread(pid, tid, "running", switches=switches)
    args = [int(word, 0) for word in words[1:]]
    call = _CALLS.get(int(words[0])) if args else _kernel_function(folder)
    if call is None:
        return Thread(pid, tid, "unknown", f"system call {int(words[0])}" if args else "", switches=switches)
    state, what, quiet = _judge(call, args, pid, names, stdin_empty=stdin_empty)
    return Thread(pid, tid, state, what, quiet, _timed(call, args), switches, tuple(args))


def _polls_itself_only(thread: Thread, call: Call, stdin: str) -> bool:
    """True if an event loop polls nothing but its stdin and what wakes it from inside, such as an eventfd."""
    polled = descriptors.polled(thread.pid, call, list(thread.args))
    targets = [descriptors.target(thread.pid, fd) for fd in polled or ()]
    return bool(targets) and all(name == stdin or name.startswith(_INNER) for name in targets)


def _judge(
    call: Call, args: list[int], pid: int, names: tuple[str, ...], *, stdin_empty: bool
) -> tuple[State, str, bool]:
    """Return the state that a call means, its name for people, and whether it is quiet (see `Thread`)."""
    if call.kind in ("read", "write"):
        # Where only the kernel's function is known, the usual descriptor is the best guess.
        target = descriptors.target(pid, args[0] & 0xFFFFFFFF if args else int(call.kind == "write"))
        if call.kind == "read" and target == names[0]:
            return "reading-stdin", call.name, True
        if call.kind == "write" and target in names[1:]:
            return ("writing-stdout" if target == names[1] else "writing-stderr"), call.name, False
        inner = target.startswith(_INNER)
        return ("elsewhere" if args else "unknown"), call.name, call.kind == "read" and inner
    if call.kind == "poll":
        if args and call.counted is not None and args[call.counted] == 0:
            return "sleeping", call.name, False
        waits_for_stdin = stdin_empty and descriptors.target(pid, 0) == names[0]
        return ("idle" if waits_for_stdin else "elsewhere" if args else "unknown"), call.name, stdin_empty
    state = _STATES.get(call.kind, "unknown")
    return state, call.name, call.kind not in ("sleep", "other")


def _timed(call: Call, args: list[int]) -> bool:
    if call.timeout is None or not args:
        return call.kind == "sleep"
    return args[call.timeout] != 0 if call.pointer else args[call.timeout] not in _FOREVER


def _kernel_function(folder: str) -> Call | None:
    name = reaper.read_proc(f"{folder}/wchan").decode("ascii", "replace").partition(".")[0]
    kind = KERNEL_FUNCTIONS.get(name)
    return None if kind is None else Call(name, kind)


def pipe_names(process: ComponentProcess) -> tuple[str, ...]:
    """Return how /proc names the stdin, stdout and stderr of a component."""
    return tuple(f"pipe:[{inode}]" for inode in process.inodes)
