"""Sentences on who waits on whom: from facts to sentences, pure. The facts are gathered by ``waiting`` and ``session``.

Only what the facts show is said. Where the system does not tell, that is said.
"""

from __future__ import annotations

import signal
from typing import Literal, NamedTuple

import msgspec

from multilang_cli.driver.launch import show
from multilang_cli.protocol.storm.diagnosis import bare_pid
from multilang_cli.protocol.words.events import Exited
from multilang_cli.protocol.words.waits import FACTS, STDIN_EMPTY, STOPPED, Waits, left_unread

State = Literal[
    "reading-stdin",
    "writing-stdout",
    "writing-stderr",
    "idle",
    "sleeping",
    "running",
    "stopped",
    "traced",
    "elsewhere",
    "waiting-signal",
    "waiting-child",
    "waiting-lock",
    "exited",
    "unknown",
]
"""idle: polls, with an empty stdin. elsewhere: reads, writes or polls something else than its three pipes."""

Kin = Literal["self", "child", "descendant"]

MOST_THREADS = 6
"""Kinds of waits that the line of facts names."""


class Waiting(msgspec.Struct, frozen=True):
    """Facts on what keeps a component: facts alone. Text is escaped already.

    `pid`, `command` and `kin`: the one of its processes that tells the most. `alone`: no other thread does anything
    but wait for a lock or a child. `call`, `target`, `peer`: the system call, what its descriptor leads to, and who of
    the family holds the other end. `guessed`: only the kernel's function is known, not the descriptor. `polling`: waits
    for any of several descriptors. `polls_stdin`: None if that can't be seen. `polls`: the other descriptors.
    `limit`: milliseconds of the wait if known; `timed`: it also waits for a time to pass. `tracer`: the debugger.
    `hidden`: why the system does not tell. `remote`: the command that runs the component elsewhere.
    `written` and `complained`: bytes on stdout and stderr so far; `stdin`, `stdout`, `stderr`: bytes that stand in the
    pipes, None if ours is closed. `stdin_full`: no more fits in now. `holders`: who still holds what of a dead process.
    `threads`: what each kind of thread does.
    """

    state: State
    pid: int = 0
    command: str = ""
    kin: Kin = "self"
    alone: bool = True
    call: str = ""
    target: str = ""
    peer: str = ""
    guessed: bool = False
    polling: bool = False
    polls_stdin: bool | None = None
    polls: tuple[str, ...] = ()
    limit: int | None = None
    timed: bool = False
    tracer: str = ""
    hidden: str = ""
    remote: str = ""
    written: int = 0
    complained: int = 0
    stdin: int | None = 0
    stdout: int | None = 0
    stderr: int | None = 0
    stdin_full: bool = False
    exited: Exited | None = None
    holders: tuple[str, ...] = ()
    threads: tuple[tuple[str, int], ...] = ()


class Debts(msgspec.Struct, frozen=True):
    """Answers that are pending, and by whom, as the judge and the host know it.

    By the component: its `pid`, the sync of `command`, of so many `heartbeats`, the settling of so many `tuples`, its
    `end`. By Storm: answers to so many emits that asked for `task_ids`; `held`: mlcheck keeps so many of them back;
    `reentered`: Storm acks inside the emit and answers only then; `unasked`: how the last emit made sure that none
    come. `unsent`: bytes that are not in the pipe yet. `rest`: the end of a message that has no end.
    """

    pid: bool = False
    command: str = ""
    heartbeats: int = 0
    tuples: int = 0
    end: bool = False
    task_ids: int = 0
    held: int = 0
    reentered: bool = False
    unasked: Literal["", "direct", "declined"] = ""
    unsent: int = 0
    rest: bytes = b""


class Look(NamedTuple):
    """A description of who waits on whom, and one line of `facts` for it."""

    waits: Waits
    facts: str


def look(seen: Waiting, debts: Debts) -> Look:
    """Both for a conversation that goes on."""
    return Look(waits_of(seen, debts), facts(seen, debts))


_NO_DEBTS = Debts()


def waits_of(seen: Waiting, debts: Debts = _NO_DEBTS) -> Waits:
    """Facts as the parts of a sentence: what it does, for whom it waits, and who waits for it."""
    own = seen.kin == "self"
    who = "" if own else f"has a {seen.kin} process {seen.pid} ({seen.command}) that "
    it = "it" if own and seen.alone else "that process" if seen.alone else "that part of it"
    whom = _whom(seen)
    return Waits(
        doing=f"{who}{_doing(seen)}",
        whom=f"{it} waits for {whom}" if whom else "",
        storm="" if debts.end and seen.exited is not None else _awaited(debts),
        hints=tuple(_hints(seen, debts)),
    )


def _doing(seen: Waiting) -> str:
    if seen.exited is not None:
        return _ended(seen.exited) + (f", but {' and '.join(seen.holders)}" if seen.holders else "")
    if seen.state == "unknown":
        return _unknown(seen)
    return _DOING[seen.state](seen)


def _ended(end: Exited) -> str:
    if end.signal is None:
        return f"has exited with code {end.code}"
    return f"was ended by signal {end.signal} ({_signal_name(end.signal)})"


_FILE_LOCKS = frozenset({"flock", "fcntl", "fcntl64", "lockf"})
"""Calls that can last, since another holds the file."""


def _unknown(seen: Waiting) -> str:
    if seen.call in _FILE_LOCKS:
        return f"waits for a lock of a file ({seen.call})"
    if seen.call:
        return f"is in {seen.call}, which tells no more"
    return f"does something that the system does not tell{f', for {seen.hidden}' if seen.hidden else ''}"


def _reading(seen: Waiting) -> str:
    if seen.guessed:
        return f"waits in {seen.call}: it reads a pipe, most likely its stdin"
    return f"is blocked reading {STDIN_EMPTY}" if seen.stdin == 0 else "is reading its stdin"


def _writing(seen: Waiting) -> str:
    name, count = ("stdout", seen.stdout) if seen.state == "writing-stdout" else ("stderr", seen.stderr)
    if seen.guessed:
        return f"waits in {seen.call}: it writes a pipe, most likely its {name}"
    return f"is blocked writing its {name}, which is full ({_bytes(count)})" if count else f"is writing its {name}"


def _polling(seen: Waiting) -> str:
    """An event loop that lets its stdin lie is what one looks for."""
    if seen.polls_stdin is None:
        return f"waits in {seen.call}" + (", its stdin is empty" if seen.stdin == 0 else "")
    if seen.polls_stdin:
        return f"waits in {seen.call} for {STDIN_EMPTY if seen.stdin == 0 else 'its stdin'}"
    return f"waits in {seen.call}, but not for its stdin{left_unread(seen.stdin)}"


def _elsewhere(seen: Waiting) -> str:
    if seen.polling:
        return _polling(seen)
    return f"is blocked in {seen.call} of {seen.target or 'a descriptor that the system does not show'}"


def _locked(seen: Waiting) -> str:
    only = not seen.timed and sum(count for _, count in seen.threads) == 1
    freed = ", and has no other thread that could free it" if only else ""
    return f"waits for a lock{' or for a time to pass' if seen.timed else ''} ({seen.call}){freed}"


def _asleep(seen: Waiting) -> str:
    """Of several threads, the one that sleeps may be the one that matters least: a timer that tells what was done."""
    count = sum(count for _, count in seen.threads)
    return f"is asleep{f' in one of its {count} threads' if count > 1 and seen.kin == 'self' else ''} ({seen.call})"


_TWO_ENDS = ("a pipe", "a socket", "a TCP", "a Unix")
_DOING = {
    "reading-stdin": _reading,
    "writing-stdout": _writing,
    "writing-stderr": _writing,
    "idle": _polling,
    "sleeping": _asleep,
    "running": lambda _: "is busy (running)",
    "stopped": lambda _: f"{STOPPED}, such as SIGSTOP, and does nothing until SIGCONT",
    "traced": lambda seen: f"is stopped by a debugger{f', {seen.tracer}' if seen.tracer else ''}",
    "elsewhere": _elsewhere,
    "waiting-signal": lambda seen: f"waits for a signal ({seen.call})",
    "waiting-child": lambda _: "waits for a child process",
    "waiting-lock": _locked,
}


def _whom(seen: Waiting) -> str:
    """For whom a component waits, "" if the facts do not show it."""
    if seen.exited is not None or seen.guessed:
        return ""
    if seen.polling:
        return _polled(seen)
    if seen.state == "elsewhere":
        if "listens" in seen.target:
            return "somebody to connect"
        return seen.peer or ("whoever is at the other end" if seen.target.startswith(_TWO_ENDS) else "")
    known = {
        "reading-stdin": "Storm" if seen.stdin == 0 else "",
        "writing-stdout": "Storm to read it" if seen.stdout else "",
        "writing-stderr": "Storm to read it" if seen.stderr else "",
        "sleeping": "nobody but the clock",
        "running": "nobody",
    }
    return known.get(seen.state, "")


def _polled(seen: Waiting) -> str:
    if seen.polls_stdin is None:
        return ""
    time = "a time to pass" if seen.limit is None else f"{seen.limit} ms to pass"
    parts = ["Storm"] if seen.polls_stdin and seen.stdin == 0 else []
    parts += [_list(seen.polls)] if seen.polls else []
    return ", or for ".join([*parts, *([time] if seen.timed else [])])


def _awaited(debts: Debts) -> str:
    """The message that Storm waits for from the component."""
    if debts.end:
        return "its end"
    parts = []
    if debts.pid:
        parts.append("its pid")
    if debts.command:
        parts.append(f"its sync of {show(debts.command)!r}")
    if debts.heartbeats:
        parts.append(
            "its sync of a heartbeat" if debts.heartbeats == 1 else f"its sync of {debts.heartbeats} heartbeats"
        )
    if debts.tuples:
        parts.append("the ack or fail of " + ("a tuple" if debts.tuples == 1 else f"{debts.tuples} tuples"))
    return " and ".join(parts)


def _hints(seen: Waiting, debts: Debts) -> list[str]:
    found = []
    if seen.stdin and seen.state in ("writing-stdout", "writing-stderr") and seen.exited is None:
        full = "is full too" if seen.stdin_full and debts.unsent else "is not empty"
        more = f" and {_bytes(debts.unsent)} more wait to be written" if debts.unsent else ""
        found.append(f"its stdin {full}: {_bytes(seen.stdin)} unread{more}")
    waits_for_storm = seen.exited is None and (seen.state == "reading-stdin" or bool(seen.polls_stdin))
    # Who owes nothing rests: task ids are no news then.
    found += _task_ids(debts, waiting=waits_for_storm and bool(_awaited(debts)))
    if debts.pid and (old := bare_pid(debts.rest)):
        found.append(old)
    elif debts.rest and seen.state != "writing-stdout":
        found.append(
            f"the last it wrote is no whole message, it ends in {debts.rest.decode(errors='backslashreplace')!r}"
        )
    if seen.remote:
        found.append(f"what {seen.remote} runs in another place can't be seen from here")
    return found


def _task_ids(debts: Debts, *, waiting: bool) -> list[str]:
    many = "an emit" if (debts.held or debts.task_ids) == 1 else f"{debts.held or debts.task_ids} emits"
    if debts.reentered:
        return ["Storm acks inside the emit, and sends its task ids only after the sync of that ack"]
    if debts.held:
        return [f"mlcheck holds back the task ids of {many}"]
    if debts.task_ids:
        return [f"Storm still has to send the task ids of {many}"]
    if waiting and debts.unasked == "direct":
        return ["no task ids are on their way: its last emit was direct, and Storm never answers those with task ids"]
    if waiting and debts.unasked == "declined":
        return ["no task ids are on their way: its last emit asked for none (need_task_ids is false)"]
    return []


def facts(seen: Waiting, debts: Debts | None = None) -> str:
    """One line of facts: bytes in each pipe, bytes so far, and the system call of each kind of thread."""
    unsent = f" and {_bytes(debts.unsent)} more to write" if debts is not None and debts.unsent else ""
    pipes = f"stdin {_held(seen.stdin)}{unsent}, stdout {_held(seen.stdout)}, stderr {_held(seen.stderr)}"
    said = f"so far {_bytes(seen.written)} of stdout and {_bytes(seen.complained)} of stderr"
    shown = [f"{count} x {what}" if count > 1 else what for what, count in seen.threads[:MOST_THREADS]]
    left = sum(count for _, count in seen.threads[MOST_THREADS:])
    more = [f"{left} more"] if left else []
    threads = f"; threads: {', '.join(shown + more)}" if shown else ""
    return f"{FACTS}{pipes}; {said}{threads}"


def _held(count: int | None) -> str:
    return "closed" if count is None else _bytes(count)


def _list(words: tuple[str, ...]) -> str:
    shown = words[:2]
    return " and ".join([*shown, *([f"{len(words) - 2} more"] if len(words) > len(shown) else [])])


def _bytes(count: int | None) -> str:
    return "1 byte" if count == 1 else f"{count or 0} bytes"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unnamed"
