"""A recording as what Storm's side did, step by step, and what it had heard before each step. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.protocol.words.events import (
    Activation,
    Deadline,
    End,
    Event,
    Exited,
    PidChecked,
    Signalled,
    StdinClosed,
)
from multilang_cli.protocol.words.messages import TupleMsg
from multilang_cli.replay.received import ExpectedMessage, ReceivedMessages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.words.verdicts import Kind, StormVersion

_ACTIONS = (StdinClosed, Signalled, Deadline, Activation, PidChecked, End)


class ReplayStep(NamedTuple):
    """Something that Storm's side said or did. `needs`: what the component had said since the step before."""

    event: Event
    needs: tuple[ExpectedMessage, ...]


def script_of(events: Iterable[Event], kind: Kind, version: StormVersion) -> list[ReplayStep]:
    """The steps of a recording, in order, an `End` last.

    What was said before a step is needed before it is done again: that keeps the order of cause and effect without a
    clock. Logs and emits without anchors are not needed: nothing is ever said in answer to them.
    """
    heard = ReceivedMessages(kind, version)
    steps: list[ReplayStep] = []
    needs: dict[tuple[str, str], ExpectedMessage] = {}
    last: Event | None = None
    for event in events:
        last = event
        for need in heard.hear(event):
            if need.what == "settle":
                needs.pop(("emit", need.id), None)
            needs[need.what, need.id] = need
        if event.channel == "in" or isinstance(event.body, _ACTIONS):
            steps.append(ReplayStep(event, tuple(needs.values())))
            needs = {}
    if last is not None and not isinstance(last.body, End):
        steps.append(ReplayStep(Event(last.seq + 1, last.t, "control", End()), tuple(needs.values())))
    return steps


def ended_at_once(events: Iterable[Event]) -> bool:
    """True if its stdin was closed and it was killed in the same breath, as Storm ends a component.

    What it would have done at the end of its stdin is not known then: nobody waited for it.
    """
    closed = False
    for event in events:
        body = event.body
        if isinstance(body, Exited | Deadline):
            closed = False
        elif isinstance(body, Signalled):
            return closed
        closed = closed or isinstance(body, StdinClosed)
    return False


def closed_behind_signal(events: Iterable[Event]) -> int | None:
    """The seq of the end of stdin that comes behind a signal, as in ``Process.destroy`` of Java; None for none."""
    signalled = False
    for event in events:
        if signalled and isinstance(event.body, StdinClosed):
            return event.seq
        signalled = signalled or isinstance(event.body, Signalled)
    return None


def equal_after(events: Iterable[Event], id_: str, before: int) -> list[str]:
    """The ids of the tuples before event `before` that were fed after the tuple `id_` and are equal to it."""
    first: TupleMsg | None = None
    found: list[str] = []
    for event in events:
        body = event.body
        if event.seq >= before:
            break
        if not isinstance(body, TupleMsg):
            continue
        if body.id == id_:
            first, found = body, []
        elif first is not None and msgspec.structs.replace(body, id=id_) == first:
            found.append(body.id)
    return found
