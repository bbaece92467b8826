"""A recording that begins in the middle, as a ring does: what is said first to play it, what can't be played. Pure.

Whoever was started later has never heard what came before: tuples that were open then, commands without an answer, and
all that is said about them, are left out of what is played and compared.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.judge.spout_rules import key_of
from multilang_cli.protocol.judge.state import State, from_plain
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.words.events import Activation, Event
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Malformed, Pid, SpoutCommand, Sync, TaskIds, TupleMsg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.verdicts import Profile, StormVersion

_PID_SAID = b'{"pid":1}\nend\n'
_SYNC_SAID = b'{"command":"sync"}\nend\n'


def playable(
    events: Sequence[Event], profile: Profile, version: StormVersion, snapshot: dict[str, Any] | None
) -> tuple[Event, ...]:
    """The events with an opening made from the profile, without what belongs to the part that is missing.

    `snapshot`: the judge's state where they begin, None if nobody knows.
    """
    if not events:
        return ()
    try:
        state = from_plain(snapshot["state"]) if snapshot is not None else None
    except (msgspec.ValidationError, KeyError, TypeError):
        state = None
    selector = _Selector(profile, state)
    return (*_opening(events[0], profile, version), *(event for event in events if selector.keeps(event)))


def _opening(first: Event, profile: Profile, version: StormVersion) -> list[Event]:
    """Opening of a conversation until a component is at work: a handshake, and to a spout that it is active."""
    shake = context.handshake(profile, version, profile.conf, "")
    said: list[tuple[Any, Any, bytes]] = [
        ("in", shake, wire.encode(shake, version)),
        ("out", Pid(1), _PID_SAID),
    ]
    if profile.kind == "spout" and version.activate:
        activate = SpoutCommand("activate")
        said += [("in", activate, wire.encode(activate, version)), ("out", Sync(), _SYNC_SAID)]
    elif profile.kind == "spout":
        said.append(("control", Activation(active=True), b""))
    begin = first.seq - len(said)
    return [Event(begin + n, first.t, channel, body, raw) for n, (channel, body, raw) in enumerate(said)]


class _Selector:
    """Lets pass what a component that was started later can know of."""

    def __init__(self, profile: Profile, state: State | None) -> None:
        self._spout = profile.kind == "spout"
        self._sent: set[str] = set()
        self._emitted: set[str] = set()
        self._known = None if state is None else {*state.open, *state.settled.keys()}
        self._open = set[str]() if state is None else set(state.open)
        self._unsure = not self._spout and (state is None or bool(self._open))
        self._pending = 0 if state is None else len(state.commands if self._spout else state.heartbeats)
        self._asked = 0
        self._asks: deque[bool] = deque([False] * (0 if state is None else state.task_ids))
        self._skipping = self._spout and (state is None or self._pending > 0)

    def keeps(self, event: Event) -> bool:
        """True if `event` can be played, or waited for."""
        if event.channel == "in":
            return self._told(event.body)
        return event.channel != "out" or self._said(event.body)

    def _told(self, body: Any) -> bool:
        if isinstance(body, TaskIds):
            return bool(self._asks) and self._asks.popleft()
        if isinstance(body, SpoutCommand):
            # Nothing can be settled that was never emitted, and nothing be heard in answer to it.
            self._skipping = body.command in {"ack", "fail"} and key_of(body.id) not in self._emitted
            self._asked += 1
            return not self._skipping
        if isinstance(body, TupleMsg):
            self._asked += body.is_heartbeat
            self._sent.add(body.id)
        return True

    def _said(self, body: Any) -> bool:
        if isinstance(body, Malformed):
            skipping, heard = self._skipping, [self._said(message) for message in body.salvage]
            return all(heard) and not skipping
        if isinstance(body, Sync):
            return self._synced()
        kept = not (self._skipping or self._is_of_before(body))
        if isinstance(body, Emit):
            if body.wants_task_ids:
                self._asks.append(kept)
            if kept and body.id is not None:
                self._emitted.add(key_of(body.id))
        return kept

    def _synced(self) -> bool:
        """True for the answer to something that is asked again."""
        skipping, self._skipping = self._skipping, False
        if self._pending:
            self._pending -= 1
            self._skipping = self._spout and self._pending > 0
            return False
        if not self._asked:
            return self._known is not None
        self._asked -= 1
        return not skipping

    def _is_of_before(self, body: Any) -> bool:
        ids: Sequence[str] = ()
        if isinstance(body, Ack | Fail):
            ids = (body.id,)
        elif isinstance(body, Emit):
            ids = body.anchors
        unsent = [each for each in ids if each not in self._sent]
        before = bool(unsent) and (self._known is None or not self._known.isdisjoint(unsent))
        # A log, an error, an emit without anchors may be about what was still open.
        unsure = self._unsure and not ids
        if isinstance(body, Ack | Fail):
            self._open.discard(body.id)
            self._unsure = self._unsure and (bool(self._open) or (self._known is None and before))
        return before or unsure
