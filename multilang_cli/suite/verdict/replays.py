"""Replays by a spout of what failed: Storm itself keeps no values, and replays nothing. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.judge.spout_rules import key_of
from multilang_cli.protocol.words.large import as_raw
from multilang_cli.protocol.words.messages import Emit, SpoutCommand

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.subject.options import Component

CALLS = 5
"""Calls of next behind a fail in which a spout could have emitted the tuple again."""
FAILED_FOR_GOOD = 3
"""Tuples that failed for good, in a run, from which on it is told."""
NO_IDS = "never-an-id"
"""The rule of a conversation in which no tuple had an id: short ones say too little."""
NEVER = (
    "it emitted none of the {lost} tuples again that failed: Storm replays nothing itself, so they are lost (emit them "
    "again, unless at most once is what you want; is what `fail` names the id that is looked up?)"
)


class Replays:
    """Replays that a run shows. `lost`: tuples that failed and did not come again in `CALLS` of next.

    `uses_ids`: a tuple with an id was emitted in some case.
    """

    def __init__(self) -> None:
        self.lost = 0
        self.replayed = self.uses_ids = False

    def without_contradiction(self, subject: SubjectResult) -> SubjectResult:
        """A case's result without the note that it gives no ids, if it gave some in another case."""
        kept = tuple(finding for finding in subject.findings if finding.rule != NO_IDS)
        return msgspec.structs.replace(subject, findings=kept) if self.uses_ids else subject

    def notes(self, component: Component) -> tuple[str, ...]:
        """Notes for the user of a spout although nothing is wrong."""
        if component.testee or self.replayed or self.lost < FAILED_FOR_GOOD:
            return ()
        return (NEVER.format(lost=self.lost),)


class ReplayWatch:
    """A sink of the events of one conversation; tells `run` what it shows. A tuple comes again by its id or values."""

    def __init__(self, run: Replays) -> None:
        self._run = run
        self._emitted: dict[str, bytes] = {}
        self._failed: dict[str, bytes] = {}
        self._calls: dict[str, int] = {}

    def take(self, events: Iterable[Event], _: object = (), /) -> None:
        """See what happened."""
        for event in events:
            if isinstance(event.body, Emit):
                self._came(event.body)
            elif isinstance(event.body, SpoutCommand):
                self._commanded(event.body)

    def _came(self, emit: Emit) -> None:
        values = msgspec.json.encode(emit.values, enc_hook=as_raw)
        key = key_of(emit.id) if emit.id is not None else ""
        again = key in self._failed or values in self._failed.values()
        self._run.replayed = self._run.replayed or (again and not _by_chance(emit.id))
        if emit.id is not None:
            self._run.uses_ids = True
            self._emitted[key] = values

    def _commanded(self, said: SpoutCommand) -> None:
        if said.command == "fail":
            key = key_of(said.id)
            if key in self._emitted:
                self._failed[key], self._calls[key] = self._emitted.pop(key), 0
        elif said.command == "ack":
            self._emitted.pop(key_of(said.id), None)
        elif said.command == "next":
            for key in self._calls:
                self._calls[key] += 1
            self._run.lost += sum(calls == CALLS for calls in self._calls.values())


def _by_chance(id_: Json) -> bool:
    """True of an id that a double holds, though most as large are none: who reads ids as doubles finds one in 500."""
    return isinstance(id_, int) and abs(id_) > 2**53 and int(float(id_)) == id_
