"""A conversation as it shows a component, event by event: what it was asked, what it answered, how it ended. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from multilang_cli.causes.complaints import Complaints
from multilang_cli.causes.emitting import EmittedIds, Emitting, Nexts
from multilang_cli.causes.model import SpoutCommandName
from multilang_cli.causes.sent_texts import SentTexts
from multilang_cli.causes.swallowing import IDS, BlockedReader, DroppingReader, Mislaid, NaiveReader
from multilang_cli.causes.unanswered import SentMessage, Unanswered
from multilang_cli.protocol.words.events import (
    Chunk,
    Deadline,
    Exited,
    PidChecked,
    Signalled,
    StdinClosed,
    StdoutClosed,
)
from multilang_cli.protocol.words.messages import (
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
from multilang_cli.protocol.words.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from multilang_cli.causes.model import Asked, Phase
    from multilang_cli.protocol.words.events import Event

TICK = "__tick"
MOST_LATE = 400
"""Characters kept of what was written after stdin was closed."""
_SILENCE, _AT_ONCE = 0.2, 5
"""Seconds of a silence, at least, and the part of it within which a death belongs to what ended it."""
COMMANDS: dict[str, SpoutCommandName] = {name: name for name in get_args(SpoutCommandName)}


class Seen:
    """The conversation so far, and what follows one thing in it: each of them takes what it needs of the events.

    `unanswered`: what it was sent; `complaints`: what it says is wrong; `texts`: those that it was sent; `ids`: those
    that it emitted; `emitting`: what it does around its emits; `mislaid`, `dropping`: tuples that it loses; `naive`,
    `hasty`: what it would have lost if it took the next message for the task ids of each emit that asks for some, and
    of each. `repeated`: anchored emits that are those of before once more. `stalled`: when it was silent last, it had
    answered something, and then neither the tuples nor the heartbeats that came behind. `only_logs_late`: all that it
    said once its stdin was closed are logs and errors, which answer nothing.
    """

    def __init__(self, phase: Phase, sizes: Mapping[int, int]) -> None:
        self.phase = phase
        self._sizes = sizes
        self.unanswered = Unanswered()
        self.complaints = Complaints(self.unanswered)
        self.texts = SentTexts()
        self.ids = EmittedIds()
        self.emitting = Emitting()
        self.nexts = Nexts()
        self.mislaid = Mislaid()
        self.dropping = DroppingReader()
        self.naive = NaiveReader()
        self.hasty = NaiveReader(always=True)
        self.once, self.twice = BlockedReader(1), BlockedReader(2)
        self._emits: set[bytes] = set()
        self.repeated: set[int] = set()
        self.fed = self.emitted = self.own_pid = self.lone_end = self.last_word = self.of_ids = self.behind_ids = False
        self._greeting = 0
        # How it ended, or was silent.
        self.exited: Exited | None = None
        self.closed = self.stalled = False
        self.last: int | None = None
        self.silences: set[int] = set()
        self.waits = Waits()
        self.rest = ""
        self._then = self._silence = 0.0
        # Once it was told to end.
        self._dismissed = self._asked = False
        self.late, self.late_stderr, self.only_logs_late = "", 0, True

    def loses(self, pieced: Collection[int], answers: Collection[str], *, forgets: Collection[str] = ()) -> bool:
        """True if all that it has not answered was `pieced`, and it answers such messages where they come whole.

        `answers`: of which it is known from elsewhere: handshake, tuple, heartbeat, or the name of a command;
        `forgets`: of which it leaves whole ones unanswered.
        """
        if self.phase == "handshake":
            return "handshake" in answers and self.texts.greeted in pieced
        return self.unanswered.is_all_of(pieced, answers, forgets)

    @property
    def drops_before_ids(self) -> bool:
        """True if all tuples left open came before the task ids of an emit, and more than one message for each.

        As many messages as ids may have come by chance, where it is seen to wait for the ids.
        """
        left_open = self.unanswered.open_ones
        of_others = self.dropping.waits or not self.naive.swallowed.issuperset(left_open)
        return of_others and not self.unanswered.settles_ticks_alone and self.dropping.took(left_open)

    @property
    def silent_when_idle(self) -> bool:
        """True if it answered each `next` for which it emitted, and the first for which it does not stays open."""
        return self.nexts.idle_is_new and [each for each, _ in self.unanswered.pending.values()] == ["next"]

    @property
    def size(self) -> int:
        """Bytes of what it was given first of all that it has not answered."""
        return self._greeting if self.phase == "handshake" else self.unanswered.size

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
        self.lone_end = self.lone_end or event.raw.lstrip() == b"end\n"
        self.last_word = isinstance(event.body, Malformed)
        self.texts.wrote(event)
        if self._dismissed:
            self.late = (self.late + event.raw.decode("utf-8", "backslashreplace"))[:MOST_LATE]
            self.only_logs_late = self.only_logs_late and isinstance(event.body, Log | Error)
            return
        # What settles or ends what it was asked may have been written before it read the ids of its emit.
        self.behind_ids = self.behind_ids and isinstance(event.body, Sync | Ack | Fail)
        self.unanswered.spoke()
        body: Any = event.body
        if isinstance(body, Emit) and body.anchors:
            self.repeated.update({event.seq} if event.raw in self._emits else ())
            self._emits.add(event.raw)
        told = self.complaints.trouble
        for message in body.salvage if isinstance(body, Malformed) else (body,):
            self._answered(message)
            if isinstance(message, Fail):
                self.complaints.failed(event.seq, message.id, told)
        if isinstance(body, Malformed) and body.kind == "message-cut":
            self.rest = event.raw.decode("utf-8", "backslashreplace")[:MOST_LATE]

    def _answered(self, message: object) -> None:
        self.complaints.said(message)
        self.unanswered.said(message)
        if not isinstance(message, Log | Error):
            self.of_ids = False
            self.emitted = isinstance(message, Emit)
        if isinstance(message, Emit):
            self._emitted(message)
        elif isinstance(message, Ack | Fail):
            self._settled(message.id)
        elif isinstance(message, Sync):
            self._synced()
        elif isinstance(message, Pid) and self.phase == "handshake":
            self.phase = "unasked"

    def _emitted(self, message: Emit) -> None:
        self.texts.emitted(message)
        self.emitting.emitted(message)
        self.nexts.emitted(message)
        self.naive.emitted(message)
        self.hasty.emitted(message)
        self.once.emitted(message)
        self.twice.emitted(message)
        self.dropping.emitted(message)
        self.mislaid.anchored(message.anchors)
        if message.id is not None:
            self.ids.emitted(message.id)

    def _settled(self, id_: str) -> None:
        self.emitting.settled(id_)
        self.mislaid.settled(id_)
        self.dropping.answered(id_)
        if self.unanswered.settled(id_):
            self.naive.settled(id_)
            self.hasty.settled(id_)
        self.once.settled(id_)
        self.twice.settled(id_)

    def _synced(self) -> None:
        of = self.unanswered.synced()
        if of is not None:
            self.nexts.answered(of[0])
            self.naive.answered(of[1])
            self.hasty.synced()
        self.once.synced()
        self.twice.synced()

    def complained(self, event: Event, _: Chunk) -> None:
        """Some bytes of stderr."""
        self.complaints.wrote(event.raw.decode("utf-8", "backslashreplace"), dismissed=self._dismissed)
        self.late_stderr += self._size_of(event) if self._dismissed and not self._asked else 0

    def greeted(self, event: Event, message: Handshake) -> None:
        """Storm's first message."""
        self.texts.greet(event, message)
        self._greeting = self._size_of(event)

    def pid_checked(self, _: Event, fact: PidChecked) -> None:
        """The host looked whose pid was announced."""
        self.own_pid = fact.relation == "self"

    def tuple_sent(self, event: Event, message: TupleMsg) -> None:
        """A tuple, a tick or a heartbeat."""
        asked: Asked = "heartbeat" if message.is_heartbeat else "tick" if message.stream == TICK else "tuple"
        self.texts.feed(event, message, own=asked == "tuple")
        self._sent(event, asked, message.id)
        if asked == "tuple":
            self.fed = True
            self.complaints.fed()
        if asked == "tuple" and not self._dismissed:
            self.mislaid.sent(message)
            self.dropping.sent(message.id)
            self.emitting.fed()
        self.naive.sent(message.id)
        self.hasty.sent(message.id, beat=asked == "heartbeat")
        self.once.sent(message.id, beat=asked == "heartbeat")
        self.twice.sent(message.id, beat=asked == "heartbeat")

    def ids_sent(self, event: Event, message: TaskIds) -> None:
        """Task ids: only none at all are special."""
        self.naive.sent(IDS)
        self.hasty.sent(IDS)
        self.once.sent(IDS)
        self.twice.sent(IDS)
        self.behind_ids = True
        self.unanswered.ids_sent()
        self.emitting.ids_sent()
        self.dropping.ids_sent()
        self.of_ids = bool(message.tasks)
        if not message.tasks:
            self._sent(event, "no-ids", "")

    def commanded(self, event: Event, message: SpoutCommand) -> None:
        """A command to a spout."""
        self._sent(event, COMMANDS.get(message.command, "next"), "")
        self.nexts.asked()
        if message.command in {"ack", "fail"}:
            self.ids.brought_back(message.id, fails=message.command == "fail")

    def _sent(self, event: Event, asked: Asked, id_: str) -> None:
        if not self._dismissed:
            self.behind_ids = self.behind_ids and asked != "tuple"
            self.unanswered.sent(event.seq, SentMessage(asked, event.t, self._size_of(event)), id_)
            self.phase = "asked" if self.phase == "unasked" else self.phase

    def ended(self, event: Event, fact: Exited) -> None:
        """The process is dead: by itself, unless it was told to end."""
        if self._dismissed:
            return
        self.exited, self.last = fact, event.seq
        at_once = self._silence >= _SILENCE and event.t - self._then < self._silence / _AT_ONCE
        has_read = self.unanswered.ended(fact.unread, at_once=at_once)
        if self.phase == "asked" and not has_read:
            self.phase = "unasked"

    def stdout_closed(self, event: Event, _: StdoutClosed) -> None:
        """End of file, while the process lives."""
        if not self._dismissed:
            self.closed, self.last = True, event.seq

    def silent(self, event: Event, fact: Deadline) -> None:
        """A limit ran out."""
        self.silences.add(event.seq)
        self.stalled = self.unanswered.is_stalled(event.t, waited=fact.waiting_for == "heartbeat")
        if not self._dismissed:
            self.waits, self.last = fact.waits, event.seq
            self.rest = fact.rest or self.rest

    def dismiss(self, _: Event, fact: StdinClosed | Signalled) -> None:
        """Mark that it was told to end: what comes now comes of that; what it is asked for is not among its stderr."""
        self._dismissed = True
        self._asked = isinstance(fact, Signalled) and fact.asks


_HANDLERS: dict[type, Callable[[Seen, Event, Any], None]] = {
    Handshake: Seen.greeted,
    Chunk: Seen.complained,
    PidChecked: Seen.pid_checked,
    TupleMsg: Seen.tuple_sent,
    TaskIds: Seen.ids_sent,
    SpoutCommand: Seen.commanded,
    Exited: Seen.ended,
    StdoutClosed: Seen.stdout_closed,
    Deadline: Seen.silent,
    StdinClosed: Seen.dismiss,
    Signalled: Seen.dismiss,
}
