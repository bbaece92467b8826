"""A recording as a conformance case: what was said in it, as steps, and the clause of what was wrong. Pure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.protocol.words.events import Deadline, Event, Signalled, StdinClosed
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Handshake, Malformed, SpoutCommand, TaskIds, TupleMsg
from multilang_cli.replay.case_files import step_of
from multilang_cli.transcript.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from multilang_cli.protocol.words.verdicts import Finding, Profile
    from multilang_cli.replay.recording import JudgedRecording

_NEEDS = {"fields": "streams", "schema": "schema"}
"""What a case needs to be declared, by the occasion that its rule needs."""


class Promoted(NamedTuple):
    """A case as plain values, what it leaves out of the recording, and the words of a command that plays it."""

    case: dict[str, Any]
    left_out: tuple[str, ...]
    again: str


def promote(recording: JudgedRecording, finding: Finding, id_: str, path: str, base: Mapping[str, Any]) -> Promoted:
    """The case `id_`, to be written to `path`, that fails by `finding` as long as it is not mended.

    `base`: the conf that a case hands over by itself.
    """
    rule = recording.rulebook.rules[finding.rule]
    writer = _CaseWriter(recording.profile, base)
    for event in recording.events:
        writer.hear(event)
    case: dict[str, Any] = {
        "id": id_,
        "title": f"does not do what was recorded: {rule.title}",
        "kind": recording.profile.kind,
        "level": rule.level,
        "clause": msgspec.to_builtins(rule.clause),
        "expected": f"nothing that breaks {rule.id}, nor any other rule",
        "steps": [step_of(operation, arguments) for operation, arguments in writer.finished()],
    }
    if needs := [need for occasion, need in _NEEDS.items() if occasion in rule.occasions]:
        case["needs"] = needs
    return Promoted(case, tuple(dict.fromkeys(writer.left_out)), _again(recording.profile, id_, path))


def _again(profile: Profile, id_: str, path: str) -> str:
    words = ["mlcheck", "run", "--kind", profile.kind]
    for name, spec in (profile.streams or {}).items():
        if spec.fields:
            words += ["--stream", f"{name}:{','.join(spec.fields)}{'!direct' if spec.direct else ''}"]
    if profile.settles != "by-limit":
        words += ["--settles", profile.settles]
    return f"{shlex.join([*words, '--suite', path, '-k', id_])} -- COMMAND"


class _CaseWriter:
    """Writes down what Storm's side did, as operations of cases. `base`: as of ``promote``."""

    def __init__(self, profile: Profile, base: Mapping[str, Any]) -> None:
        self.profile, self.base = profile, base
        self.steps: list[tuple[str, dict[str, Any]]] = []
        self.left_out: list[str] = []
        self._open: set[str] = set()
        self._emitted: list[Any] = []
        self._settled, self._signalled = True, False

    def finished(self) -> list[tuple[str, dict[str, Any]]]:
        """All steps: it is given the time to settle its tuples and to say what comes after that before the end."""
        last = self.steps[-1][0] if self.steps else ""
        if last in {"close_stdin", "lose_worker", "terminate"}:
            return self.steps
        if self.profile.kind == "bolt" and last != "settle":
            self.steps.append(("settle", {}))
        return [*self.steps, ("quiet", {})]

    def hear(self, event: Event) -> None:
        """Take the next event of the recording."""
        body = event.body
        if event.channel == "in":
            self._told(event, body)
        elif isinstance(body, Ack | Fail):
            self._open.discard(body.id)
        elif isinstance(body, Emit) and body.id is not None:
            self._emitted.append(body.id)
        elif isinstance(body, Deadline):
            self._waited(body.waiting_for)
        elif isinstance(body, Signalled):
            self._signalled = True
        elif isinstance(body, StdinClosed) and not self._signalled:
            self.steps.append(("lose_worker" if body.stdout else "close_stdin", {}))

    def _told(self, event: Event, body: Any) -> None:
        if isinstance(body, Handshake):
            self._handshake()
        elif isinstance(body, SpoutCommand):
            self._call(body)
        elif isinstance(body, TupleMsg) and body.is_heartbeat:
            self._add("heartbeat", {"times": 1})
        elif isinstance(body, TupleMsg):
            self._tuple(event, body)
        elif isinstance(body, Malformed):
            self.left_out.append("what Storm's side wrote that is no message")
        elif not isinstance(body, TaskIds):
            self.left_out.append(f"a message of the kind {type(body).__name__}")

    def _handshake(self) -> None:
        conf = without_secrets(self.profile.conf)
        if len(conf) < len(self.profile.conf):
            self.left_out.append("values of conf that are secret")
        own = {key: value for key, value in conf.items() if key not in self.base or self.base[key] != value}
        self.steps.append(("handshake", {"conf": own} if own else {}))

    def _tuple(self, event: Event, message: TupleMsg) -> None:
        if b"***" in event.raw:
            self.left_out.append("secrets of conf in tuples, which are *** now")
        if not self._open and not self._settled:
            self.steps.append(("settle", {}))
        self._settled = False
        self._open.add(message.id)
        if message.is_tick:
            self._add("tick", {"times": 1})
            return
        where = {"comp": message.comp, "stream": message.stream, "task": message.task}
        if self.steps and self.steps[-1][0] == "tuple" and self.steps[-1][1].items() >= where.items():
            self.steps[-1][1]["these"].append(message.values)
        else:
            self.steps.append(("tuple", {"these": [message.values], **where}))

    def _call(self, body: SpoutCommand) -> None:
        arguments: dict[str, Any] = {"command": body.command, "times": 1}
        if body.command in {"ack", "fail"} and body.id not in self._emitted:
            arguments["id"] = "unknown"
        self._add("call", arguments)

    def _waited(self, what: str) -> None:
        if what == "settle":
            self._settled = True
            self.steps.append(("settle", {}))
        elif what == "exit-after-term":
            self.steps.append(("terminate", {}))

    def _add(self, operation: str, arguments: dict[str, Any]) -> None:
        """Add a step; the same again is counted."""
        if self.steps and self.steps[-1][0] == operation:
            before = self.steps[-1][1]
            if {**before, "times": 0} == {**arguments, "times": 0}:
                before["times"] += 1
                return
        self.steps.append((operation, arguments))
