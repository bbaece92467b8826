"""A conversation as it shows a component, event by event: what it was asked, what it answered, how it ended. Pure."""

from __future__ import annotations

import re
from collections import Counter, deque
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, get_args

from multilang_cli.causes.emitted_ids import EmittedIds
from multilang_cli.causes.emitting import Emitting, Nexts
from multilang_cli.causes.model import SpoutCommandName
from multilang_cli.causes.swallowing import IDS, MOST_FOLLOWED, DroppingReader, Mislaid, NaiveReader
from multilang_cli.protocol.words.events import (
    Chunk,
    Deadline,
    Exited,
    PidChecked,
    Signalled,
    StdinClosed,
    StdoutClosed,
)
from multilang_cli.protocol.words.large import strings_of
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
from multilang_cli.protocol.words.shortening import ends
from multilang_cli.protocol.words.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from multilang_cli.causes.model import Asked, Phase
    from multilang_cli.protocol.words.events import Event

TICK = "__tick"
MOST_REPORTED = 8000
"""Characters kept of an error that was reported."""
MOST_LATE = 400
"""Characters kept of what was written after stdin was closed."""
_ECHO = 60
"""Bytes of the handshake by which it is known when it comes back."""
_MOST_KEYS = 1000
_LONGEST_KEY = 200
"""Characters of a key that may be another misspelt."""
_LIKE = 0.85
"""The part of two keys that is the same where one may be the other misspelt."""
_OVERDUE = 2.0
"""Seconds of silence from which on a heartbeat is not on its way to be answered any more."""
_WARN = 3
"""The level of a log that warns."""
_WRONG = re.compile(
    r"error|exception|fail|invalid|traceback|unable|can(?:no|')t|could ?n[o']t|missing|unexpected|undefined|unknown"
    r"|wrong|skip|dropp|ignor|discard|refus|reject|no such|not (?:a|an|found|valid)\b",
    re.IGNORECASE,
)
_TEXTS, _PIECE, _OF_A_TEXT = 64, 3, 1000
"""Texts of tuples that are kept, characters of a piece of one that is no chance, and of a text that are kept."""
_SILENCE, _AT_ONCE = 0.2, 5
"""Seconds of a silence, at least, and the part of it within which a death belongs to what ended it."""
COMMANDS: dict[str, SpoutCommandName] = {name: name for name in get_args(SpoutCommandName)}


def _complains(message: Log | Error) -> bool:
    """True for an error, a warning, and a line that says that something is wrong."""
    return isinstance(message, Error) or (message.level or 0) >= _WARN or tells_of_trouble(message.msg or "")


def tells_of_trouble(text: str) -> bool:
    """True if a line says that something is wrong."""
    return _WRONG.search(text) is not None


class _Given(NamedTuple):
    """A message that was sent to it: what it asks for, when, and how many bytes it has."""

    asked: Asked
    t: float
    size: int


class Seen:
    """The conversation so far. `pending`: what was sent and is not answered, by seq: its kind, and a tuple's id.

    `repeated`: anchored emits that are those of before once more. `reported`: the last error that it told Storm of, if
    it failed what it worked on, or answered no more; `gave_up`: it failed that for it. `failed_at`, `failed_for`: the
    first tuple that it failed, and what it had told of it; `failed_err`: its stderr since it was fed last. `naive`,
    `hasty`: what it would have lost if it took the next message for the task ids of each emit that asks for some, and
    of each. `complains`: its last log or error while a tuple was open says that something is wrong, or is not the
    first that it said. `stalled`: when it was silent last, it had answered something, and then neither the tuples nor
    the heartbeats that came behind. `only_logs_late`: all that it said once its stdin was closed are logs and errors,
    which answer nothing. `muttered`: what it wrote to stderr since it was fed last, and settled anything.
    """

    def __init__(self, phase: Phase, sizes: Mapping[int, int]) -> None:
        self.phase = phase
        self._sizes = sizes
        self._conf_keys: list[str] = []
        self.pending: dict[int, tuple[Asked, str]] = {}
        self.exited: Exited | None = None
        self.closed = False
        self.last: int | None = None
        self.failed_at: int | None = None
        self.failed_for = self.failed_err = self._err = ""
        self.silences: set[int] = set()
        self.waits = Waits()
        self.rest = self.late = self.words = self.reported = self.complaint = self.muttered = ""
        self._texts: deque[str] = deque(maxlen=_TEXTS)
        self.escaped = self.fed = self.emitted = self.own_pid = self.echoed = False
        self.lone_end = self.last_word = self.answers_ids = False
        self._ids_came = self._unasked = 0
        self.emitting = Emitting()
        self._nexts = Nexts()
        self.naive = NaiveReader()
        self.hasty = NaiveReader(always=True)
        self.dropping = DroppingReader()
        self.mislaid = Mislaid()
        self.ids = EmittedIds()
        self._handshake = b""
        self._dismissed = self._asked = self.complains = self._talked = False
        self._read = self._greeting = 0
        self._then = self._silence = self._now = 0.0
        self.stalled = False
        self.late_stderr = 0
        self.only_logs_late = True
        self.of_ids = self.gave_up = self.behind_ids = False
        self.repeated: set[int] = set()
        self._emits: set[bytes] = set()
        self._has_answered = self._passes_over = False
        self._open: dict[str, int] = {}
        self._passed: dict[str, str] = {}
        self._ticks: set[str] = set()
        self._answers: set[Asked] = set()
        self._given: dict[int, _Given] = {}
        self._greeted: int | None = None
        self._erred = False
        self._parting: dict[int, tuple[Asked, str]] | None = None
        self.struck: Asked = ""
        self.answered: Asked = ""

    def loses(self, pieced: Collection[int], answers: Collection[str], *, forgets: Collection[str] = ()) -> bool:
        """True if all that it has not answered was `pieced`, and it answers such messages where they come whole.

        `answers`: of which it is known from elsewhere: handshake, tuple, heartbeat, or the name of a command;
        `forgets`: of which it leaves whole ones unanswered.
        """
        if self.phase == "handshake":
            return "handshake" in answers and self._greeted in pieced
        pending = Counter(asked for asked, _ in self.pending.values() if asked != "tuple")
        # A sync does not say which heartbeat it answers: that of a whole one behind is taken for an answer to this.
        parts = Counter(given.asked for seq, given in self._given.items() if seq in pieced)
        lost = {*pending, *(("tuple",) if self._open else ())}
        known = all(a in self._answers or a in answers for a in lost) and lost.isdisjoint(forgets)
        # Who answers one of the same kind that came in pieces, loses none.
        all_lost = all(parts[asked] == count for asked, count in pending.items())
        return bool(lost) and known and all_lost and {*self._open.values()} <= {*pieced}

    @property
    def only_ticks(self) -> bool:
        """True if ticks are open, and no other tuple."""
        return bool(self._ticks) and not self._open

    @property
    def drops_before_ids(self) -> bool:
        """True if all tuples left open came before the task ids of an emit, and more than one message for each.

        As many messages as ids may have come by chance, where it is seen to wait for the ids.
        """
        of_others = self.dropping.waits or not self._open.keys() <= self.naive.swallowed
        return of_others and self.dropping.took(self._open)

    @property
    def silent_when_idle(self) -> bool:
        """True if it answered each `next` for which it emitted, and the first for which it does not stays open."""
        return self._nexts.idle_is_new and [each for each, _ in self.pending.values()] == ["next"]

    @property
    def size(self) -> int:
        """Bytes of what it was given first of all that it has not answered."""
        if self.phase == "handshake":
            return self._greeting
        first = next(iter(self.pending), None)
        return self._given[first].size if first is not None else 0

    def _size_of(self, event: Event) -> int:
        return self._sizes.get(event.seq, len(event.raw))

    def take(self, event: Event) -> None:
        """Follow one event."""
        self._now = event.t
        if event.channel in {"in", "out"}:
            self._silence, self._then = event.t - self._then, event.t
        if event.channel == "out":
            self._heard(event)
        elif (handler := _HANDLERS.get(event.body.__class__)) is not None:
            handler(self, event, event.body)

    def _heard(self, event: Event) -> None:
        self.lone_end = self.lone_end or event.raw.lstrip() == b"end\n"
        self.last_word = isinstance(event.body, Malformed)
        self.echoed = self.echoed or (bool(self._handshake) and event.raw.startswith(self._handshake))
        if self._dismissed:
            self.late = (self.late + event.raw.decode("utf-8", "backslashreplace"))[:MOST_LATE]
            self.only_logs_late = self.only_logs_late and isinstance(event.body, Log | Error)
            return
        # What settles or ends what it was asked may have been written before it read the ids of its emit.
        self.behind_ids = self.behind_ids and isinstance(event.body, Sync | Ack | Fail)
        self.pending = {seq: each for seq, each in self.pending.items() if each[0] != "no-ids"}
        body: Any = event.body
        if isinstance(body, Emit) and body.anchors:
            self.repeated.update({event.seq} if event.raw in self._emits else ())
            self._emits.add(event.raw)
        told = self.reported or self.complaint
        for message in body.salvage if isinstance(body, Malformed) else (body,):
            self._answered(message)
            if isinstance(message, Fail) and self.failed_at is None:
                self.failed_at, self.failed_for, self.failed_err = event.seq, told, self._err
        if isinstance(body, Malformed) and body.kind == "message-cut":
            self.rest = event.raw.decode("utf-8", "backslashreplace")[:MOST_LATE]

    def _answered(self, message: object) -> None:
        # What was logged long before the end has nothing to do with it.
        self.words = ends(message.msg or "", MOST_REPORTED) if isinstance(message, Log | Error) else ""
        self._complained(message)
        self._talked = self._talked or not isinstance(message, Pid)
        self._reported(message)
        # Adapters say an error and a sync when they end: that sync answers nothing.
        self._parting = self.pending if self._erred and isinstance(message, Sync) else None
        self._erred = isinstance(message, Error)
        if not isinstance(message, Log | Error):
            self.of_ids = False
            self.emitted = isinstance(message, Emit)
            self.answered = ""
        if isinstance(message, Emit):
            self._emitted(message)
        elif isinstance(message, Ack | Fail):
            self._settled(message.id)
        elif isinstance(message, Sync):
            self._synced()
        elif isinstance(message, Pid) and self.phase == "handshake":
            self.phase = "unasked"

    def _emitted(self, message: Emit) -> None:
        self.emitting.emitted(message)
        self._nexts.emitted()
        self.naive.emitted(message)
        self.hasty.emitted(message)
        self.dropping.emitted(message)
        for anchor in message.anchors:
            self.mislaid.named(anchor)
        if message.id is not None:
            self.ids.emitted(message.id)

    def _settled(self, id_: str) -> None:
        self.emitting.settled(id_)
        self.mislaid.settled(id_)
        self.dropping.answered(id_)
        self._ticks.discard(id_)
        self._answers.update(("tuple",) if self._open.pop(id_, None) is not None else ())
        at = next((seq for seq, (_, each) in self.pending.items() if each == id_), None)
        if at is not None:
            self.answered = self.pending[at][0]
            self.naive.settled(id_)
            self.hasty.settled(id_)
            self._has_read(at)

    def _synced(self) -> None:
        at = next((seq for seq, (asked, _) in self.pending.items() if asked not in {"tuple", "tick"}), None)
        if at is not None:
            self._nexts.answered(self.pending[at][0])
            self.naive.answered(self.pending[at][1])
            self.hasty.synced()
            self._has_read(at)
        else:
            self._unasked += 1
            self.answers_ids = self._unasked <= self._ids_came and (self.answers_ids or self._unasked == 1)

    def _has_read(self, at: int) -> None:
        """Note that it answers what it was sent `at`: it has read all that came before that."""
        before = [asked for seq, (asked, _) in self.pending.items() if seq < at]
        self._has_answered = True
        self._answers.add(self.pending[at][0])
        self._passes_over = self._passes_over or "heartbeat" in before
        self.pending = {seq: each for seq, each in self.pending.items() if seq > at}

    def _reported(self, message: object) -> None:
        if isinstance(message, Error):
            self.reported = ends(message.msg or "", MOST_REPORTED)
            self.gave_up = False
        elif isinstance(message, Fail):
            self.gave_up = bool(self.reported)
        elif isinstance(message, Emit | Ack) or (isinstance(message, Sync) and self.gave_up):
            self.reported, self.gave_up = "", False

    def _complained(self, message: object) -> None:
        """Keep what it logs while a tuple is open, until it settles one."""
        if isinstance(message, Ack | Fail):
            self._passed_over(message.id)
            self.complaint = self.muttered = ""
        elif isinstance(message, Log | Error) and any(asked == "tuple" for asked, _ in self.pending.values()):
            # The first that it says behind its pid may be of its start.
            self.complains = self._talked or _complains(message)
            self.complaint = ends(message.msg or "", MOST_REPORTED)

    def _passed_over(self, settled: str) -> None:
        """Keep what it logged last for the tuple that is passed over as a later one is settled."""
        self._passed.pop(settled, None)
        first = next((id_ for asked, id_ in self.pending.values() if asked == "tuple"), settled)
        later = first != settled and settled in self._open and len(self._passed) < MOST_FOLLOWED
        if later and tells_of_trouble(self.complaint):
            self._passed[first] = self.complaint

    @property
    def complained_of(self) -> str:
        """The words that it logged of a tuple which it never settled, "" for none."""
        return self.complaint if self.complaint and self.complains else next(iter(self._passed.values()), "")

    def complained(self, event: Event, _: Chunk) -> None:
        """Some bytes of stderr."""
        text = event.raw.decode("utf-8", "backslashreplace")
        if self.failed_at is None:
            self._err = (self._err + text)[-MOST_REPORTED:]
        if not self._dismissed and any(asked == "tuple" for asked, _ in self.pending.values()):
            self.muttered = (self.muttered + text)[-MOST_REPORTED:]
        self.late_stderr += self._size_of(event) if self._dismissed and not self._asked else 0

    def greeted(self, event: Event, message: Handshake) -> None:
        """Storm's first message."""
        self._conf_keys = [key for key in islice(message.conf, _MOST_KEYS) if len(key) <= _LONGEST_KEY]
        self._handshake, self._greeted = event.raw[:_ECHO], event.seq
        self._greeting = self._size_of(event)

    def key_like(self, wanted: str) -> str:
        """A key of conf that `wanted` may be misspelt; "" if there is none, or `wanted` itself."""
        close = get_close_matches(wanted[:_LONGEST_KEY], self._conf_keys, n=1, cutoff=_LIKE)
        return close[0] if close and close[0] != wanted else ""

    def pid_checked(self, _: Event, fact: PidChecked) -> None:
        """The host looked whose pid was announced."""
        self.own_pid = fact.relation == "self"

    def tuple_sent(self, event: Event, message: TupleMsg) -> None:
        """A tuple, a tick or a heartbeat."""
        asked: Asked = "heartbeat" if message.is_heartbeat else "tick" if message.stream == TICK else "tuple"
        self.fed = self.fed or asked == "tuple"
        self.escaped = self.escaped or (asked == "tuple" and b"\\" in event.raw)
        self._err = "" if asked == "tuple" else self._err
        self._texts.extend(value[-_OF_A_TEXT:] for value in strings_of(message.values))
        self._sent(event, asked, message.id)
        if asked == "tuple" and not self._dismissed:
            self.mislaid.sent(message)
            self.dropping.sent(message.id)
            self.emitting.fed()
        elif asked == "tick" and not self._dismissed:
            self._ticks.add(message.id)
        self.naive.sent(message.id)
        self.hasty.sent(message.id, beat=asked == "heartbeat")

    def is_of_a_text(self, words: str) -> bool:
        """True if a text among the values of a tuple has these words."""
        return len(words) >= _PIECE and any(words in text for text in self._texts)

    def ids_sent(self, event: Event, message: TaskIds) -> None:
        """Task ids: only none at all are special."""
        self.naive.sent(IDS)
        self.hasty.sent(IDS)
        self.behind_ids = True
        self._ids_came += 1
        self.emitting.ids_sent()
        self.dropping.ids_sent()
        self.of_ids = bool(message.tasks)
        if not message.tasks:
            self._sent(event, "no-ids", "")

    def commanded(self, event: Event, message: SpoutCommand) -> None:
        """A command to a spout."""
        self._sent(event, COMMANDS.get(message.command, "next"), "")
        self._nexts.asked()
        if message.command in {"ack", "fail"}:
            self.ids.brought_back(message.id)

    def _sent(self, event: Event, asked: Asked, id_: str) -> None:
        if not self._dismissed:
            self.pending[event.seq] = (asked, id_)
            self.behind_ids = self.behind_ids and asked != "tuple"
            self._given[event.seq] = _Given(asked, event.t, self._size_of(event))
            self._open.update({id_: event.seq} if asked == "tuple" else {})
            self.phase = "asked" if self.phase == "unasked" else self.phase
            self._read += 1

    def ended(self, event: Event, fact: Exited) -> None:
        """The process is dead: by itself, unless it was told to end."""
        if self._dismissed:
            return
        self.exited, self.last = fact, event.seq
        self.pending = self._parting or self.pending
        last = next(reversed(self.pending.values()), None)
        if last is not None and self._silence >= _SILENCE and event.t - self._then < self._silence / _AT_ONCE:
            self.struck = last[0]
        left = fact.unread
        for seq, given in reversed(self._given.items()):
            left -= given.size
            if left < 0:
                break
            # Nobody dies of what nobody has read.
            self.pending.pop(seq, None)
            self._read -= 1
        if self.phase == "asked" and not self._read:
            self.phase = "unasked"

    def _is_stalled(self, *, waited: bool) -> bool:
        """True if neither the tuples nor the heartbeats are answered that came behind what it answered.

        `waited`: for the answer of a heartbeat. Else one that was sent a moment ago may be on its way to be answered.
        """
        kinds = {asked for asked, _ in self.pending.values()}
        first = next((seq for seq, (asked, _) in self.pending.items() if asked == "heartbeat"), None)
        overdue = first is not None and (waited or self._now - self._given[first].t >= _OVERDUE)
        return self._has_answered and not self._passes_over and overdue and "tuple" in kinds

    def stdout_closed(self, event: Event, _: StdoutClosed) -> None:
        """End of file, while the process lives."""
        if not self._dismissed:
            self.closed, self.last = True, event.seq

    def silent(self, event: Event, fact: Deadline) -> None:
        """A limit ran out."""
        self.silences.add(event.seq)
        self.stalled = self._is_stalled(waited=fact.waiting_for == "heartbeat")
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
