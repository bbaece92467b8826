"""The message of a recording that what went wrong is about. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.causes.seen import Seen
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Handshake, Malformed, TupleMsg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding


def went_wrong_at(events: Sequence[Event], findings: Sequence[Finding]) -> Event | None:
    """The message of Storm's side behind which the first breach came; None if there is none but the handshake.

    Of several that came together it is the one that the component names in what is wrong, else the first that it had
    not answered, else the last.
    """
    first = min((each for each in findings if each.level != "note"), key=lambda each: each.seq, default=None)
    if first is None:
        return None
    before = [event for event in events if event.seq < first.seq]
    said = [event for event in before if event.channel == "in" and not isinstance(event.body, Handshake)]
    named = _named_by(next((event for event in events if event.seq == first.seq), None))
    of_name = [event for event in said if isinstance(event.body, TupleMsg) and event.body.id in named]
    if of_name:
        return of_name[-1]
    seen = Seen("handshake", {})
    for event in events:
        # An end tells how much of what was sent it had read.
        if event.seq < first.seq or event.channel == "process":
            seen.take(event)
        if event.seq >= first.seq:
            break
    unanswered = next((event for event in said if event.seq in seen.unanswered.pending), None)
    return unanswered or (said[-1] if said else None)


def _named_by(event: Event | None) -> frozenset[str]:
    """The ids that a message of the component names."""
    body = event.body if event is not None and event.channel == "out" else None
    messages = body.salvage if isinstance(body, Malformed) else (body,)
    ids: set[str] = set()
    for message in messages:
        if isinstance(message, Ack | Fail) and isinstance(message.id, str):
            ids.add(message.id)
        elif isinstance(message, Emit):
            ids.update(message.anchors)
    return frozenset(ids)
