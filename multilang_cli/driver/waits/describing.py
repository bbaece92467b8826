"""Facts on what keeps a component, from /proc for ``who_waits``: one thread that tells the most, and all that is known.

Nothing is disturbed, nothing is guessed without saying so. Linux only; elsewhere the state is `unknown`.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from multilang_cli.driver import reaper
from multilang_cli.driver.launch import show
from multilang_cli.driver.waits import descriptors
from multilang_cli.driver.waits.starving import OwnTime
from multilang_cli.driver.waits.syscalls import BY_NAME, Call
from multilang_cli.driver.waits.waiting import Thread, pipe_names, threads
from multilang_cli.driver.waits.who_waits import Kin, State, Waiting

if TYPE_CHECKING:
    from multilang_cli.driver.process import ComponentProcess

ON_ITS_WAY = 0.25
"""Seconds for which a process may run on its way to what it waits for: it is busy if it still runs then."""
BETWEEN_LOOKS = 0.005
"""Seconds between two looks at such a one."""

_TELLING: tuple[State, ...] = (
    "traced",
    "stopped",
    "writing-stdout",
    "writing-stderr",
    "running",
    "reading-stdin",
    "idle",
    "sleeping",
    "elsewhere",
    "waiting-signal",
    "unknown",
    "waiting-child",
    "waiting-lock",
)
"""Of several threads, the one whose state comes first tells the most about why nothing moves."""

_REMOTE = frozenset({"docker", "podman", "nerdctl", "kubectl", "ssh", "lxc-attach", "machinectl"})
"""Commands that run a component where its processes can't be seen from here."""

_PATIENT: tuple[State, ...] = ("waiting-lock", "waiting-child")
_PIPE_STATES: tuple[State, ...] = ("reading-stdin", "writing-stdout", "writing-stderr")


def describe_waiting(process: ComponentProcess) -> Waiting:
    """Gather what keeps a component, as `describe`, once it no longer runs on its way to what it waits for."""
    seen, on_its_way = describe(process), OwnTime(process, ON_ITS_WAY)
    while seen.state == "running" and not on_its_way.is_over:
        time.sleep(BETWEEN_LOOKS)
        seen = describe(process)
    return seen


_STREAMS = {1: "stdout", 2: "stderr"}


def describe(process: ComponentProcess) -> Waiting:
    """Gather what keeps a component: see `who_waits.sentence` for the words."""
    exited = process.exited()
    seen = [] if exited is not None else list(threads(process))
    known = Waiting(
        state="unknown" if exited is None else "exited",
        pid=process.pid,
        command=_command(process.pid),
        written=process.stdout_total + (process.stdout_unread() or 0),
        complained=process.stderr_total + (process.stderr_unread() or 0),
        stdin=process.stdin_unread(),
        stdout=process.stdout_unread(),
        stderr=process.stderr_unread(),
        exited=exited,
    )
    if exited is not None:
        return replace(known, holders=holders(process))
    if not seen:
        return replace(known, hidden=_hidden(process.pid))
    known = replace(known, stdin_full=bool(known.stdin) and not process.poll(0, want_write=True).stdin)
    return _with_thread(process, known, min(seen, key=lambda t: _TELLING.index(t.state)), seen)


def _with_thread(process: ComponentProcess, known: Waiting, chosen: Thread, seen: list[Thread]) -> Waiting:
    family = sorted({process.pid, *(thread.pid for thread in seen)})
    names = pipe_names(process)
    call = BY_NAME.get(chosen.call)
    foreign = _is_32_bit(chosen.pid)
    known = replace(
        known,
        state="unknown" if foreign else chosen.state,
        pid=chosen.pid,
        command=_command(chosen.pid),
        kin=_kin(process.pid, chosen.pid),
        alone=all(t.state in _PATIENT or (t.pid, t.state) == (chosen.pid, chosen.state) for t in seen),
        call="" if foreign else chosen.call,
        guessed=chosen.state in _PIPE_STATES and not chosen.args,
        timed=chosen.timed,
        tracer=_tracer(chosen.pid),
        hidden="it is a 32-bit program, whose system calls have other numbers" if foreign else _hidden(chosen.pid),
        remote=next((name for pid in family if (name := _command(pid)) in _REMOTE), ""),
        threads=_counted(process, seen),
    )
    if call is None or foreign:
        return known
    if call.kind == "poll":
        return _with_polled(known, call, list(chosen.args), names, seen)
    return _with_target(known, call, chosen, family) if known.state == "elsewhere" else known


def _with_polled(known: Waiting, call: Call, args: list[int], names: tuple[str, ...], seen: list[Thread]) -> Waiting:
    family = sorted({known.pid, *(thread.pid for thread in seen)})
    if known.state == "sleeping":
        return known
    polled = descriptors.polled(known.pid, call, args)
    targets = {fd: descriptors.target(known.pid, fd) for fd in polled or ()}
    limit = args[call.timeout] & 0xFFFFFFFF if args and call.timeout is not None and not call.pointer else None
    others = [name for name in targets.values() if name not in names and not _own(known.pid, name, family)]
    words = dict.fromkeys(
        _stuck_writer(known.pid, name, seen) or descriptors.in_words(known.pid, name) or "what can't be seen"
        for name in others
    )
    return replace(
        known,
        polling=True,
        polls_stdin=None if polled is None or "" in targets.values() else names[0] in targets.values(),
        polls=tuple(words),
        limit=limit,
    )


def _stuck_writer(pid: int, name: str, seen: list[Thread]) -> str:
    """Words for a pipe of a process of the family that writes to another pipe, which is full; "" for any other."""
    if not name.startswith("pipe:"):
        return ""
    writers = descriptors.holders({thread.pid for thread in seen} - {pid}, (name,), writing=True)
    for thread in seen:
        call = BY_NAME.get(thread.call)
        if thread.pid in writers and call is not None and call.kind == "write" and thread.args:
            fd = thread.args[0] & 0xFFFFFFFF
            if descriptors.target(thread.pid, fd) not in {"", name}:
                end = _STREAMS.get(fd, f"descriptor {fd}")
                who = f"process {thread.pid} ({_command(thread.pid)})"
                return f"a pipe of {who}, which is blocked in {thread.call} of its {end}"
    return ""


def _own(pid: int, name: str, family: list[int]) -> bool:
    """True if nobody else of the family can wake it through this: what an event loop wakes itself with."""
    if name.startswith("pipe:"):
        return descriptors.holders(family, (name,)).keys() == {pid}
    return name.startswith("anon_inode:[eventfd")


def _with_target(known: Waiting, call: Call, thread: Thread, family: list[int]) -> Waiting:
    name = descriptors.target(thread.pid, thread.args[0] & 0xFFFFFFFF) if thread.args else ""
    if not name.startswith("pipe:"):
        return replace(known, target=descriptors.in_words(thread.pid, name))
    found = descriptors.holders(family, (name,), writing=call.kind == "read")
    others = [pid for pid in found if pid != thread.pid]
    peer = f"process {others[0]} ({_command(others[0])}) at its other end" if others else ""
    return replace(known, target="a pipe", peer=peer)


def _counted(process: ComponentProcess, seen: list[Thread]) -> tuple[tuple[str, int], ...]:
    """States of threads in words, those that do the same together."""
    names = pipe_names(process)
    counts = Counter(_label(process.pid, thread, names) for thread in sorted(seen, key=lambda t: t.pid != process.pid))
    return tuple(counts.items())


def _label(root: int, thread: Thread, names: tuple[str, ...]) -> str:
    who = "" if thread.pid == root else f"{thread.pid} ({_command(thread.pid)}): "
    call = BY_NAME.get(thread.call)
    if call is None or call.kind not in ("read", "write") or not thread.args:
        return f"{who}{thread.call or thread.state}"
    fd = thread.args[0] & 0xFFFFFFFF
    name = descriptors.target(thread.pid, fd)
    known = dict(zip(names, ("stdin", "stdout", "stderr"), strict=True)).get(name)
    return f"{who}{thread.call} of descriptor {fd} ({known or descriptors.in_words(thread.pid, name) or 'not shown'})"


def holders(process: ComponentProcess) -> tuple[str, ...]:
    """The processes of the family that still hold the pipes of a dead component, in words."""
    cookie = (reaper.COOKIE_PREFIX + process.cookie).encode()
    names = pipe_names(process)
    words = dict(zip(names, ("stdin", "stdout", "stderr"), strict=True))
    found = descriptors.holders(sorted(reaper.survivors({process.pid}, (cookie,))), names)
    return tuple(
        f"process {pid} ({_command(pid)}), which it left behind, holds its {' and '.join(words[name] for name in held)}"
        for pid, held in found.items()
    )


def _hidden(pid: int) -> str:
    """The reason why a process can't be looked into; "" if it can."""
    if not Path("/proc/self/stat").exists():
        return "there is no /proc here"
    for line in reaper.read_proc(f"/proc/{pid}/status").splitlines():
        if line.startswith(b"Uid:") and (uid := int(line.split()[2])) != os.geteuid() and os.geteuid():
            return f"it runs as another user (uid {uid})"
    return "" if reaper.read_proc(f"/proc/{pid}/syscall") else "it may not be looked into (ptrace is not permitted)"


def _tracer(pid: int) -> str:
    for line in reaper.read_proc(f"/proc/{pid}/status").splitlines():
        if line.startswith(b"TracerPid:") and (tracer := int(line.split()[1])):
            return f"process {tracer} ({_command(tracer)})"
    return ""


def _kin(root: int, pid: int) -> Kin:
    if pid == root:
        return "self"
    return "child" if reaper.stat_fields(pid)[1:2] == [str(root).encode()] else "descendant"


def _is_32_bit(pid: int) -> bool:
    try:
        with Path(f"/proc/{pid}/exe").open("rb") as program:
            return program.read(5) == b"\x7fELF\x01"
    except OSError:
        return False


def _command(pid: int) -> str:
    return show(reaper.read_proc(f"/proc/{pid}/comm").decode("utf-8", "replace").strip())
