"""Observers of a case while it is played: of the component, and of what the suite says to it as Storm."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.roles import roles_of
from multilang_cli.protocol.words.events import Deadline, Exited, Signalled, StdinClosed, WriteFailed
from multilang_cli.protocol.words.feeds import Feed
from multilang_cli.protocol.words.messages import (
    SYSTEM_COMPONENT,
    Ack,
    Emit,
    Error,
    Fail,
    Log,
    Malformed,
    Sync,
    TupleMsg,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Finding, Profile

WATCHED_EVENTS = 4096
"""Events of a case that are kept in memory for its report; all of them are in the transcript."""
WATCHED_FIRST = 32
"""Events at its beginning that are among them: the handshake and its answer."""

WATCHED_BYTES = 4096
"""Bytes of one event that are kept in memory for its report."""


class Like(NamedTuple):
    """The key of equal tuples: their component, their stream, and a hash of their values."""

    component: str
    stream: str
    values: int


class Watch:
    """Sees every event of a case, and what became of the tuples while Storm was still there.

    `open`: the ids of those that are not settled, Storm's own, as ticks, left out. `acks`: how many like each were
    acked. `refused`: what the first is like that was failed before one like it was acked, None if there is none.
    `silent`: it has said nothing since it was fed. `beats`: heartbeats that it has not answered. `stopped`: the process
    was seen to be stopped by a signal. `without_reader`: it lived on, and nobody read its stdin. `dismissed`: it was
    told to end, by the end of its stdin or by a signal; `words`: the last that it logged or reported before. `sizes`:
    bytes of the events of which not all bytes are kept, by seq.
    """

    def __init__(self) -> None:
        self.events: dict[int, Event] = {}
        self.sizes: dict[int, int] = {}
        self.open: dict[str, Like] = {}
        self.acks: Counter[Like] = Counter()
        self.refused: Like | None = None
        self.silent = False
        self.beats = 0
        self.stopped = self.without_reader = False
        self.words = ""
        self.dismissed = self._ended = False

    @property
    def first_open(self) -> Like | None:
        """The key of the tuple that has been open for longest, if none like it was acked before; else None."""
        first = next(iter(self.open.values()), None)
        return None if first in self.acks else first

    @property
    def unlike_a_refusal(self) -> bool:
        """True if the process did what no tuple makes one do: it stopped itself, or left its stdin without a reader."""
        return self.stopped or self.without_reader

    @property
    def last_acked(self) -> Like | None:
        """The key of the only tuple that was acked: one that acks before it works may have died of that. Else None."""
        return next(iter(self.acks)) if self.acks.total() == 1 else None

    def taken(self, *, died: bool) -> frozenset[Like]:
        """Keys of the tuples that it took: it acked one, and went on if it `died` in the end."""
        return frozenset() if died and self.last_acked is not None else frozenset(self.acks)

    def take(self, events: Iterable[Event], _: object) -> None:
        """Keep events as they happen, the first and the latest, and of each no more than a report shows.

        What happened to the process is kept whenever it happened: what comes after it is seen by its light.
        """
        for event in events:
            self.events[event.seq] = event
            if len(event.raw) > WATCHED_BYTES:
                self.events[event.seq] = msgspec.structs.replace(
                    event, raw=event.raw[:WATCHED_BYTES], body=_lean(event.body)
                )
                self.sizes[event.seq] = len(event.raw)
            if len(self.events) > WATCHED_EVENTS:
                later = islice(self.events.items(), WATCHED_FIRST, None)
                dropped = next(seq for seq, kept in later if kept.channel not in {"process", "control"})
                self.events.pop(dropped)
                self.sizes.pop(dropped, None)
            self.silent = self.silent and event.channel != "out"
            self._note(event.body)

    def _note(self, body: object) -> None:
        if isinstance(body, StdinClosed | Signalled | Exited | WriteFailed):
            # Who has exited leaves its stdin as well: that is nothing else that it did.
            self.without_reader = self.without_reader or (isinstance(body, WriteFailed) and not self._ended)
            self.dismissed = self.dismissed or isinstance(body, StdinClosed | Signalled)
            self._ended = self._ended or isinstance(body, Exited)
        elif isinstance(body, TupleMsg) and body.is_heartbeat:
            self.beats += 1
        elif isinstance(body, Sync):
            self.beats = max(0, self.beats - 1)
        elif isinstance(body, TupleMsg) and body.comp != SYSTEM_COMPONENT:
            self.silent = self.silent or not self.open
            self.open[body.id] = Like(body.comp or "", body.stream, hash(repr(body.values)))
        elif isinstance(body, Ack | Fail) and not self.dismissed and (like := self.open.pop(body.id, None)):
            if isinstance(body, Ack):
                self.acks[like] += 1
            elif self.refused is None and like not in self.acks:
                self.refused = like
        elif isinstance(body, Log | Error) and not self.dismissed:
            self.words = (body.msg or "")[-WATCHED_BYTES:]
        elif isinstance(body, Deadline):
            self.stopped = self.stopped or body.waits.stopped


def _lean(body: Any) -> Any:
    """A large message without what makes it so: no cause and no excerpt looks at values, and 4,096 may be kept."""
    if isinstance(body, Emit | TupleMsg):
        return msgspec.structs.replace(body, values=[])
    if isinstance(body, Log | Error):
        return msgspec.structs.replace(body, msg=(body.msg or "")[-WATCHED_BYTES:])
    if isinstance(body, Malformed):
        salvage = tuple(map(_lean, body.salvage))
        return msgspec.structs.replace(body, excerpt=body.excerpt[:WATCHED_BYTES], salvage=salvage, by_dialect={})
    return body


class OwnSide:
    """Judge of what the suite says to a component as Storm, by the rules of hosts.

    A breach is a fault of ours. Only what every Storm of the version holds to is asked of it, since no feed was
    declared, and nothing from the event on that ends the worker: no Storm says anything then.
    """

    def __init__(self, profile: Profile, rulebook: Rulebook) -> None:
        self.findings: list[Finding] = []
        profile = msgspec.structs.replace(profile, feed=Feed(free=True), testee="")
        self._judge = Conversation(profile, rulebook, roles=roles_of(profile))

    def take(self, events: Sequence[Event], _: object) -> None:
        """Judge events as they happen."""
        self.findings += self._judge.feed_all(events)

    @property
    def fault(self) -> str:
        """The first message of ours that no Storm sends, in one sentence; "" if there is none."""
        if not self.findings:
            return ""
        first = self.findings[0]
        return f"{first.rule}: {first.message} (event {first.seq})"
