"""What is known of a conversation when it went wrong: how far it came, what was owed, how the process ended. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.causes.model import Asked, Bytes, Ended, Phase
from multilang_cli.causes.tracebacks import Death, last_line
from multilang_cli.causes.unheard import what_they_are
from multilang_cli.protocol.events import Chunk, Deadline, Exited, PidChecked, Signalled, StdinClosed, StdoutClosed
from multilang_cli.protocol.messages import (
    Ack,
    Emit,
    Error,
    Fail,
    Handshake,
    Log,
    Malformed,
    Pid,
    SpoutCommand,
    Sync,
    TaskIds,
    TupleMsg,
)
from multilang_cli.protocol.verdicts import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from multilang_cli.causes.tracebacks import Tracebacks
    from multilang_cli.protocol.events import Event

TICK = "__tick"
MOST_LATE = 400
"""Characters kept of what was written after stdin was closed."""
MOST_WORDS = 80
"""Characters of a log that a sentence shows."""
_ECHO = 60
"""Bytes of the handshake by which it is known when it comes back."""
_SILENCE, _AT_ONCE = 0.2, 5
"""Seconds of a silence, at least, and the part of it within which a death belongs to what ended it."""
_COMMANDS: dict[str, Asked] = {
    "next": "next",
    "ack": "ack",
    "fail": "fail",
    "activate": "activate",
    "deactivate": "deactivate",
}


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where a component comes from. `roots`: folders of the user's own files, absolute."""

    kind: Kind
    language: str = ""
    roots: tuple[str, ...] = ()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the signatures of causes look at; see `model.Signature` for the words.

    `struck`: what was sent last after a silence, if it died at once of that. `seq`: the last event that shows it.
    `death`: the uncaught exception in its `stderr`. `rest`, `late`: what it wrote that is no message, and what it
    wrote only after its stdin was closed. `words`: the last that it logged. `waits`: what it was doing in a
    silence.
    """

    kind: Kind
    language: str
    findings: tuple[Finding, ...]
    phase: Phase = "handshake"
    asked: Asked = ""
    owed: Asked = ""
    ended: Ended = "no"
    code: int | None = None
    signal: int | None = None
    seq: int | None = None
    death: Death | None = None
    stderr: str = ""
    rest: str = ""
    late: str = ""
    waits: str = ""
    made_up: bool = False
    fed: bool = False
    handled: bool = False
    pieced: bool = False
    misread: bool = False
    size: int = 0
    words: str = ""
    struck: Asked = ""
    emitted: bool = False
    own_pid: bool = False
    echoed: bool = False

    @property
    def rest_is(self) -> Bytes:
        """What the unfinished output is."""
        return what_they_are(self.rest)

    @property
    def late_is(self) -> Bytes:
        """What was held back until stdin was closed."""
        if not self.late:
            return ""
        return "message" if "\nend" in self.late else what_they_are(self.late)

    @property
    def _how_it_ended(self) -> str:
        return f"killed by signal {self.signal}" if self.signal is not None else f"exit code {self.code}"

    @property
    def how(self) -> str:
        """How it ended: by the exception that nobody caught, else its exit code or signal and its last line."""
        if self.death is not None:
            return self.death.text
        if self.words and not self.stderr.strip():
            return f'{self._how_it_ended}, and its last log is "{self.words.strip()[:MOST_WORDS]}"'
        if self.ended == "closed":
            return "it closed its stdout and lives on"
        how = self._how_it_ended
        said = last_line(self.stderr)
        # What it prints of each message tells nothing, and is another line in each case.
        told = said and said[:1] not in "{["
        return f'{how}, and its last line of stderr is "{said}"' if told else how


def facts_of(
    events: Iterable[Event],
    findings: Sequence[Finding],
    source: Source,
    tracebacks: Tracebacks,
    *,
    stderr: str = "",
    made_up: bool = False,
    handled: bool = False,
    pieced: bool = False,
    late: bool = False,
    sizes: Mapping[int, int] = {},
) -> Facts:
    """Gather the facts of one conversation from its `events` in their order.

    `stderr`: the last of it, as text. `made_up`: the tuple that it was given last was made up. `handled`: its pid file
    was there while it was silent. `pieced`: a message was written to it in parts. `late`: the beginning of the
    conversation is not among `events`. `sizes`: the bytes of those events, by seq, of which not all are in `raw`.
    """
    seen = _Seen("asked" if late else "handshake", sizes)
    for event in events:
        seen.take(event)
    ended = seen.exited
    stderr = _before(stderr, seen.late_stderr)
    pending = list(seen.pending.values())
    # Who reads them at all reads them at once, whatever else is open.
    pending = pending[-1:] if pending and pending[-1][0] == "no-ids" else pending
    commands = [asked for asked, _ in pending if asked in _COMMANDS or asked == "heartbeat"]
    return Facts(
        kind=source.kind,
        language=source.language,
        findings=tuple(findings),
        phase=seen.phase,
        asked=pending[0][0] if pending else "",
        owed=commands[0] if commands else "",
        ended="closed" if seen.closed and ended is None else "no" if ended is None else _how(ended),
        code=ended.code if ended else None,
        signal=ended.signal if ended else None,
        seq=seen.last,
        death=tracebacks.death_in(stderr, source.roots, source.language)
        or (tracebacks.death_in(seen.words, source.roots, source.language) if ended else None),
        stderr=stderr,
        rest=seen.rest,
        late=seen.late,
        waits=seen.waits,
        made_up=made_up,
        fed=seen.fed,
        handled=handled,
        pieced=pieced,
        misread=tracebacks.misread_in(stderr),
        size=seen.size,
        words=seen.words if ended else "",
        struck=seen.struck if pending else "",
        emitted=seen.emitted,
        own_pid=seen.own_pid,
        echoed=seen.echoed,
    )


def _before(stderr: str, late: int) -> str:
    """What was written but for the last `late` bytes: an end that it was told to make is no cause of anything."""
    return stderr.encode()[:-late].decode("utf-8", "ignore") if late else stderr


def _how(ended: Exited) -> Ended:
    return "code" if ended.signal is None else "signal"


class _Seen:
    """What happened so far. `pending`: what was sent and is not answered, by seq: its kind, and a tuple's id."""

    def __init__(self, phase: Phase, sizes: Mapping[int, int]) -> None:
        self.phase = phase
        self._sizes = sizes
        self.pending: dict[int, tuple[Asked, str]] = {}
        self.exited: Exited | None = None
        self.closed = False
        self.last: int | None = None
        self.rest = self.late = self.waits = self.words = ""
        self.fed = self.emitted = self.own_pid = self.echoed = False
        self._handshake = b""
        self._dismissed = False
        self._sent_sizes: list[tuple[int, int]] = []
        self._read = self._greeting = 0
        self._then = self._silence = 0.0
        self.late_stderr = 0
        self.struck: Asked = ""

    @property
    def size(self) -> int:
        """Bytes of what it was given first of all that it has not answered."""
        if self.phase == "handshake":
            return self._greeting
        first = next(iter(self.pending), None)
        return next((size for seq, size in self._sent_sizes if seq == first), 0)

    def _size_of(self, event: Event) -> int:
        return self._sizes.get(event.seq, len(event.raw))

    def take(self, event: Event) -> None:
        """Follow one event."""
        if event.channel in {"in", "out"}:
            self._silence, self._then = event.t - self._then, event.t
        if event.channel == "out":
            self._heard(event)
        elif (handler := _HANDLERS.get(event.body.__class__)) is not None:
            handler(self, event, event.body)

    def _heard(self, event: Event) -> None:
        self.echoed = self.echoed or (bool(self._handshake) and event.raw.startswith(self._handshake))
        if self._dismissed:
            self.late = (self.late + event.raw.decode("utf-8", "backslashreplace"))[:MOST_LATE]
            return
        self.pending = {seq: each for seq, each in self.pending.items() if each[0] != "no-ids"}
        body: Any = event.body
        for message in body.salvage if isinstance(body, Malformed) else (body,):
            self._answered(message)
        if isinstance(body, Malformed) and body.kind == "message-cut":
            self.rest = event.raw.decode("utf-8", "backslashreplace")[:MOST_LATE]

    def _answered(self, message: object) -> None:
        # What was logged long before the end has nothing to do with it.
        self.words = (message.msg or "")[-MOST_LATE:] if isinstance(message, Log | Error) else ""
        if not isinstance(message, Log | Error):
            self.emitted = isinstance(message, Emit)
        if isinstance(message, Pid) and self.phase == "handshake":
            self.phase = "unasked"
        at = None
        if isinstance(message, Sync):
            at = next((seq for seq, (asked, _) in self.pending.items() if asked not in {"tuple", "tick"}), None)
        elif isinstance(message, Ack | Fail):
            at = next((seq for seq, (_, id_) in self.pending.items() if id_ == message.id), None)
        if at is not None:
            # Who answers this has read all that came before it.
            self.pending = {seq: each for seq, each in self.pending.items() if seq > at}

    def complained(self, event: Event, _: Chunk) -> None:
        """Some bytes of stderr."""
        self.late_stderr += self._size_of(event) if self._dismissed else 0

    def greeted(self, event: Event, _: Handshake) -> None:
        """Storm's first message."""
        self._handshake = event.raw[:_ECHO]
        self._greeting = self._size_of(event)

    def pid_checked(self, _: Event, fact: PidChecked) -> None:
        """The host looked whose pid was announced."""
        self.own_pid = fact.relation == "self"

    def tuple_sent(self, event: Event, message: TupleMsg) -> None:
        """A tuple, a tick or a heartbeat."""
        asked: Asked = "heartbeat" if message.is_heartbeat else "tick" if message.stream == TICK else "tuple"
        self.fed = self.fed or asked == "tuple"
        self._sent(event, asked, message.id)

    def ids_sent(self, event: Event, message: TaskIds) -> None:
        """Task ids: only none at all are special."""
        if not message.tasks:
            self._sent(event, "no-ids", "")

    def commanded(self, event: Event, message: SpoutCommand) -> None:
        """A command to a spout."""
        self._sent(event, _COMMANDS.get(message.command, "next"), "")

    def _sent(self, event: Event, asked: Asked, id_: str) -> None:
        if not self._dismissed:
            self.pending[event.seq] = (asked, id_)
            self.phase = "asked" if self.phase == "unasked" else self.phase
            self._sent_sizes.append((event.seq, self._size_of(event)))
            self._read += 1

    def ended(self, event: Event, fact: Exited) -> None:
        """The process is dead: by itself, unless it was told to end."""
        if self._dismissed:
            return
        self.exited, self.last = fact, event.seq
        last = next(reversed(self.pending.values()), None)
        if last is not None and self._silence >= _SILENCE and event.t - self._then < self._silence / _AT_ONCE:
            self.struck = last[0]
        left = fact.unread
        for seq, size in reversed(self._sent_sizes):
            left -= size
            if left < 0:
                break
            # Nobody dies of what nobody has read.
            self.pending.pop(seq, None)
            self._read -= 1
        if self.phase == "asked" and not self._read:
            self.phase = "unasked"

    def stdout_closed(self, event: Event, _: StdoutClosed) -> None:
        """End of file, while the process lives."""
        if not self._dismissed:
            self.closed, self.last = True, event.seq

    def silent(self, event: Event, fact: Deadline) -> None:
        """A limit ran out."""
        if not self._dismissed:
            self.waits, self.last = fact.blocked, event.seq
            self.rest = fact.rest or self.rest

    def dismiss(self, _: Event, __: StdinClosed | Signalled) -> None:
        """What comes now comes because it was told to end."""
        self._dismissed = True


_HANDLERS: dict[type, Callable[[_Seen, Event, Any], None]] = {
    Handshake: _Seen.greeted,
    Chunk: _Seen.complained,
    PidChecked: _Seen.pid_checked,
    TupleMsg: _Seen.tuple_sent,
    TaskIds: _Seen.ids_sent,
    SpoutCommand: _Seen.commanded,
    Exited: _Seen.ended,
    StdoutClosed: _Seen.stdout_closed,
    Deadline: _Seen.silent,
    StdinClosed: _Seen.dismiss,
    Signalled: _Seen.dismiss,
}
