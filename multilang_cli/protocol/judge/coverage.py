"""Coverage of rules by conversations: a rule that had no occasion was not tested by it. Pure.

Which occasions a rule needs is data (`Rule.occasions`); what they are is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from packaging.version import Version

from multilang_cli.protocol.judge.spout_rules import EMPTY_CALLS
from multilang_cli.protocol.words.events import Activation, Chunk, Exited, Holdings, PidChecked, Signalled, StdinClosed
from multilang_cli.protocol.words.messages import (
    Ack,
    Emit,
    Error,
    Fail,
    Handshake,
    Log,
    Malformed,
    Metrics,
    Pid,
    SpoutCommand,
    Sync,
    TupleMsg,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Finding, Profile, Rule

OCCASIONS: dict[str, str] = {
    "handshake": "no handshake was sent",
    "pid": "it never said its first message",
    "pid-checked": "nobody looked at its pid",
    "pid-file": "nobody looked for its pid file",
    "holdings": "nobody looked at its files and processes",
    "message": "it said nothing after its pid",
    "tuple": "it was sent no tuple",
    "foreign-text": "no tuple held text beyond ASCII",
    "heartbeat": "it was sent no heartbeat",
    "command": "it was sent no command",
    "asked": "it was asked nothing that it has to answer",
    "next": "next was never called",
    "many-nexts": f"it was never asked {EMPTY_CALLS} times in a row when it had nothing to emit",
    "activated-again": "it was never activated a second time",
    "emit": "it emitted nothing",
    "anchored": "it emitted nothing anchored",
    "direct": "it made no direct emit",
    "asks-task-ids": "it never asked for task ids",
    "emit-id": "it emitted nothing with an id",
    "ack": "it acked nothing",
    "fail": "it failed nothing",
    "settle": "it settled nothing",
    "words": "it logged nothing and reported no error",
    "metrics": "it sent no metrics",
    "stderr": "it wrote nothing to stderr",
    "stdin-closed": "its stdin was never closed",
    "orphaned": "its worker never died",
    "terminated": "it was never sent SIGTERM",
    "ended": "it never ended by itself, or when it was told to",
    "fields": "no stream was declared with its fields",
    "schema": "no stream was declared with a JSON Schema of its values",
    "no-ackers": "it was never played without ackers",
}
"""Every occasion by its name in rule files, and what to say where it never came."""

_SAID: dict[type, tuple[str, ...]] = {
    Ack: ("ack", "settle"),
    Fail: ("fail", "settle"),
    Log: ("words",),
    Error: ("words",),
    Metrics: ("metrics",),
    Sync: (),
}


class Covered(NamedTuple):
    """The share exercised of all that holds for such a component. `never`: the rules that were not, by what to say."""

    exercised: tuple[str, ...]
    never: dict[str, tuple[str, ...]]

    @property
    def total(self) -> int:
        """The number of rules that hold for it."""
        return len(self.exercised) + sum(map(len, self.never.values()))


class Coverage:
    """The occasions of conversations with a component. `seen`: their names; `broken`: rules with findings."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.seen: set[str] = set()
        self.broken: set[str] = set()
        self._quiet_calls = 0
        self._deactivated = False
        streams = (profile.streams or {}).values()
        if any(spec.fields is not None for spec in streams):
            self.seen.add("fields")
        if any(spec.schema is not None for spec in streams):
            self.seen.add("schema")
        if profile.without_ackers:
            self.seen.add("no-ackers")

    def take(self, events: Iterable[Event], findings: Iterable[Finding] = (), /) -> None:
        """See what happened, and what the judge found in it."""
        self.broken.update(finding.rule for finding in findings)
        for event in events:
            if event.channel == "in":
                self._told(event, event.body)
            elif event.channel == "out":
                self._heard(event.body)
            else:
                self._happened(event.body)

    def _told(self, event: Event, body: Any) -> None:
        if isinstance(body, TupleMsg):
            if body.is_heartbeat:
                self.seen |= {"heartbeat", "asked"}
            else:
                self.seen.add("tuple")
                if not event.raw.isascii():
                    self.seen.add("foreign-text")
        elif isinstance(body, SpoutCommand):
            self.seen |= {"command", "asked", body.command}
            self._command(body.command)
        elif isinstance(body, Handshake):
            self.seen.add("handshake")

    def _command(self, command: str) -> None:
        if command == "next":
            self._quiet_calls += 1
            if self._quiet_calls > EMPTY_CALLS:
                self.seen.add("many-nexts")
        elif command in {"activate", "deactivate"}:
            self._activation(active=command == "activate")

    def _activation(self, *, active: bool) -> None:
        if active and self._deactivated:
            self.seen.add("activated-again")
        self._deactivated = not active

    def _heard(self, body: Any) -> None:
        for message in body.salvage if isinstance(body, Malformed) else (body,):
            if isinstance(message, Pid):
                self.seen.add("pid")
                continue
            self.seen.add("message")
            self.seen.update(_SAID.get(message.__class__, ()))
            if isinstance(message, Emit):
                self._emitted(message)
        if isinstance(body, Malformed):
            self.seen.add("message")

    def _emitted(self, emit: Emit) -> None:
        self._quiet_calls = 0
        named = {
            "emit": True,
            "anchored": bool(emit.anchors),
            "direct": bool(emit.task),
            "asks-task-ids": emit.wants_task_ids,
            "emit-id": emit.id is not None,
        }
        self.seen.update(name for name, holds in named.items() if holds)

    def _happened(self, body: Any) -> None:
        if isinstance(body, PidChecked):
            self.seen |= {"pid-checked"} if body.file == "unknown" else {"pid-checked", "pid-file"}
        elif isinstance(body, Holdings):
            self.seen.add("holdings")
        elif isinstance(body, Chunk):
            self.seen.add("stderr")
        elif isinstance(body, StdinClosed):
            self.seen |= {"stdin-closed", "ended", *(("orphaned",) if body.stdout else ())}
        elif isinstance(body, Signalled) and not body.asks:
            self.seen.add("terminated")
        elif isinstance(body, Exited):
            self.seen.add("ended")
        elif isinstance(body, Activation):
            self._activation(active=body.active)


def covered(seen: Iterable[str], broken: Iterable[str], profile: Profile, rulebook: Rulebook) -> Covered:
    """The rules that hold for such a component and had all of their occasions among `seen`, or were broken."""
    occasions, found = frozenset(seen), frozenset(broken)
    version = Version((rulebook.version(profile.storm) if profile.storm else rulebook.newest).id)
    exercised: list[str] = []
    never: dict[str, list[str]] = {}
    for rule in rulebook.rules.values():
        if rule.kind not in {"both", profile.kind} or not _holds(rule, version):
            continue
        if ("testee" in rule.profile and not profile.testee) or ("feed" in rule.profile) != (profile.feed is not None):
            continue
        missing = next((name for name in rule.occasions if name not in occasions), None)
        if missing is None or rule.id in found:
            exercised.append(rule.id)
        else:
            never.setdefault(OCCASIONS[missing], []).append(rule.id)
    # No rule is broken by not asking, but whoever never does has a part of Storm's side that was never played.
    if "asks-task-ids" not in occasions:
        never.setdefault(OCCASIONS["asks-task-ids"], [])
    return Covered(tuple(exercised), {why: tuple(rules) for why, rules in never.items()})


def _holds(rule: Rule, version: Version) -> bool:
    after = not rule.since or version >= Version(rule.since)
    return after and (not rule.until or version < Version(rule.until))
