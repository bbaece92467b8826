"""Events: what happens on the pipes, to the process, and the silence in between. The judge's whole input.

Channels are named from the component's point of view, as the protocol page does: ``in`` is its stdin (Storm speaks),
``out`` its stdout, ``err`` its stderr; ``process`` is what happens to the process, ``control`` what the one who drives
the conversation knows. Time comes with the event: seconds since the conversation began.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from multilang_cli.protocol.words.messages import Message
from multilang_cli.protocol.words.waits import Waits

SIGTERM = 15
"""What Storm ends a component with; the number is the same on every system."""

Channel = Literal["in", "out", "err", "process", "control"]


class _Fact(msgspec.Struct, frozen=True, tag_field="event", tag=str.lower, omit_defaults=True):
    pass


class Chunk(_Fact, frozen=True, tag="chunk"):
    """Some bytes of stderr, as they were read. `size` in bytes; the bytes are the event's `raw`."""

    size: int


class Started(_Fact, frozen=True, tag="started"):
    """The process runs. `argv` as given to exec; `pid` of the process itself."""

    argv: tuple[str, ...]
    pid: int


class PidChecked(_Fact, frozen=True, tag="pid-checked"):
    """The host looked at the pid that was announced.

    `relation`: self or descendant of the process started, foreign (alive but elsewhere) or dead. `file`: what stands in
    the pid directory under that name: empty, filled (has content) or missing.
    """

    pid: int
    relation: Literal["self", "descendant", "foreign", "dead", "unknown"]
    file: Literal["empty", "filled", "missing", "unknown"]


class Holdings(_Fact, frozen=True, tag="holdings"):
    """Open files and processes of the component and its descendants, before and after it was given messages.

    `messages`: tuples, or calls of next. A process that ended counts until it is waited for.
    """

    messages: int
    files: tuple[int, int]
    processes: tuple[int, int]


class Exited(_Fact, frozen=True, tag="exited"):
    """The process ended. Exactly one of `code` and `signal` is set.

    `holders`: who of those it left behind still holds its pipes, so that their end does not come. `unread`: bytes that
    it was sent and never read.
    """

    code: int | None = None
    signal: int | None = None
    holders: tuple[str, ...] = ()
    unread: int = 0

    @property
    def how(self) -> str:
        """The end in words: ``exit code 1``, ``killed by signal 9``."""
        return f"exit code {self.code}" if self.signal is None else f"killed by signal {self.signal}"


class StdinClosed(_Fact, frozen=True, tag="stdin-closed"):
    """Storm's side closed the component's stdin; `stdout`: and its stdout, as the death of a worker does."""

    stdout: bool = False


class Signalled(_Fact, frozen=True, tag="signalled"):
    """Storm's side sent a signal to the process, such as 15 (SIGTERM) in ``Process.destroy``."""

    signal: int

    @property
    def asks(self) -> bool:
        """True for what Storm never sends: to this a runtime answers on stderr where it stands, and ends."""
        return self.signal != SIGTERM


class StdoutClosed(_Fact, frozen=True, tag="stdout-closed"):
    """End of file on the component's stdout."""


class WriteFailed(_Fact, frozen=True, tag="write-failed"):
    """A write to the component's stdin failed: broken pipe."""

    error: str


class Again(msgspec.Struct, frozen=True, omit_defaults=True):
    """An open tuple, and those equal to it that were fed after it: how many, and how many of them were settled.

    `declared`: the component is said to take such tuples, and to read from one source alone: it joins nothing.
    `earlier`: they were fed in an earlier conversation, behind a tuple that is equal to this one.
    """

    id: str
    fed: int
    settled: int
    declared: bool = False
    earlier: bool = False


class Deadline(_Fact, frozen=True, tag="deadline"):
    """A limit ran out while something was pending.

    `waiting_for`: pid, sync, heartbeat, settle, exit-after-eof, exit-after-term, read (it does not read its stdin),
    output, plan (what a testee was asked to do), or host (what its host was to do). `limit` in seconds. `blocked`: who
    waits on whom, as `Waits` writes it; `facts`: what was seen, as bytes in pipes. `proven`: the limit was not waited
    for, because the component waits for its stdin and nothing else, or hangs with nothing that could wake it before, or
    a host has ended. `again`: of a tuple that stayed open while later ones were settled, what became of equal ones.
    `rest`: the beginning of what it has written of a message that has no end, its bytes that are no UTF-8 escaped as
    Python does.
    """

    waiting_for: Literal[
        "pid", "sync", "heartbeat", "settle", "exit-after-eof", "exit-after-term", "read", "output", "plan", "host"
    ]
    limit: float
    blocked: str = ""
    proven: bool = False
    facts: str = ""
    again: Again | None = None
    rest: str = ""

    @property
    def waits(self) -> Waits:
        """The parts of `blocked`."""
        return Waits.read(self.blocked)

    @property
    def idle(self) -> bool:
        """True if it was proven to have read everything and to wait for more; else it hangs, or may still work."""
        return self.proven and (not self.blocked or self.waits.at_stdin)


class Activation(_Fact, frozen=True, tag="activation"):
    """The topology was activated or deactivated, and this Storm tells no component (before 1.1.0, STORM-2294)."""

    active: bool


class Barrier(_Fact, frozen=True, tag="barrier"):
    """The driver knows that everything before this was read by the component."""

    name: str = ""


class Gap(_Fact, frozen=True, tag="gap"):
    """Events are missing here: a ring that wrapped, a part that is lost. Rules that need the past stay silent."""

    why: str
    events: int | None = None


class Redacted(_Fact, frozen=True, tag="redacted"):
    """The frame with this `seq` was changed before it was written: secrets of conf."""

    seq_redacted: int
    keys: tuple[str, ...] = ()


class End(_Fact, frozen=True, tag="end"):
    """The conversation is over: nothing more will come. What is pending now stays pending."""

    why: str = ""


Fact = (
    Chunk
    | Started
    | PidChecked
    | Holdings
    | Exited
    | StdinClosed
    | Signalled
    | StdoutClosed
    | WriteFailed
    | Deadline
    | Activation
    | Barrier
    | Gap
    | Redacted
    | End
)
"""Everything that is no message."""


class Event(msgspec.Struct, frozen=True, gc=False):
    """One thing that happened.

    `seq` counts from 0 in the conversation; `t` in seconds from its start; `body` a message (channels in and out) or a
    fact; `raw` the exact bytes of a frame or chunk, `offset` where they begin in their stream, in bytes.
    """

    seq: int
    t: float
    channel: Channel
    body: Message | Fact
    raw: bytes = b""
    offset: int = 0
