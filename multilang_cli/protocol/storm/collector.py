"""Calls to the collector of one Storm version in a conversation: the emits, acks, fails, errors, logs and metrics.

The judge says how a conversation ends on each version; this says what had happened by then. It is compared with what
the real ShellBolt and ShellSpout told their collectors (``conformance/oracle``).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.storm import dialects
from multilang_cli.protocol.storm.outlooks import SERIALIZED, goes_on, refused, throws
from multilang_cli.protocol.storm.taking import emit_of
from multilang_cli.protocol.words.events import End
from multilang_cli.protocol.words.messages import (
    Ack,
    Emit,
    Error,
    Fail,
    Log,
    Malformed,
    Metrics,
    SpoutCommand,
    Sync,
    TupleMsg,
)
from multilang_cli.protocol.words.rulebook import covers
from multilang_cli.protocol.words.verdicts import FATAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding, Profile, StormVersion

LEVELS = {0: "TRACE", 1: "DEBUG", 2: "INFO", 3: "WARN", 4: "ERROR"}
"""Names of the log levels; any other number is INFO (``ShellBolt.handleLog``)."""

_REFUSED = frozenset(
    {
        "arity",
        "direct-task-unknown",
        "direct-to-plain-stream",
        "plain-to-direct-stream",
        "stream-system",
        "stream-undeclared",
        "tuple-missing",
    }
)
"""Breaches that the collector itself answers with an exception: it is called, and throws."""
_ON_THE_WIRE = SERIALIZED | {"tuple-missing"}
"""Breaches that show when the tuple is serialized for another worker; some may show before."""

_SHOWN_TO_PEOPLE = "<1.2"
"""Storm versions that report what a bolt logs as an error in the UI as well (``ShellBolt.handleLog``)."""
_TIMEOUT = "subprocess heartbeat timeout"
"""What a spout's timer reports itself; everything else is thrown to the executor (``ShellSpout``)."""


class Collector:
    """Follows one conversation for one version. `told`: the calls so far, as dicts with a key `t`.

    Feed it each event with the findings that the judge gave for it.
    """

    def __init__(self, version: StormVersion, profile: Profile) -> None:
        self.told: list[dict[str, Any]] = []
        self.fate = "survives"
        self._version = version
        self._kind = profile.kind
        self._component = profile.component
        self._goes_on = goes_on(profile, version)
        self._ids: dict[str, int] = {}
        self._commands = 0
        self._unread: deque[tuple[Event, Sequence[Finding]]] = deque()
        self._said = False
        self._failed = False

    def feed(self, event: Event, findings: Sequence[Finding]) -> None:
        """Take the next event of the conversation."""
        body = event.body
        if self.fate in FATAL:
            return
        if isinstance(body, TupleMsg) and not body.is_heartbeat:
            self._ids.setdefault(body.id, len(self._ids))
            if self._failed:
                self.fate = "dies"
        elif isinstance(body, SpoutCommand):
            self._command()
        elif event.channel == "out" and self._waits():
            self._read(event, findings)
        elif event.channel == "out":
            self._unread.append((event, findings))
        elif not isinstance(body, End):
            self._end_by(findings, quiet=not self._said)

    def _waits(self) -> bool:
        """True if Storm is reading: a bolt's always, a spout's only while it answers a command."""
        return self._kind == "bolt" or self._commands > 0 or not self._said

    def _command(self) -> None:
        self._commands += 1
        while self._unread and self._waits() and self.fate not in FATAL:
            self._read(*self._unread.popleft())

    def _read(self, event: Event, findings: Sequence[Finding]) -> None:
        body = event.body
        if not self._said:
            self._said = True
            self._end_by(findings, quiet=True)
            return
        message: Any = body
        without_tuple = False
        if isinstance(body, Malformed | Metrics) or (isinstance(body, Emit) and _may_be_decimal(body)):
            readings = body.by_dialect if isinstance(body, Malformed) else dialects.readings(event.raw, False)
            reading = readings.get(self._version.dialect)
            if reading is None or refused(reading, self._kind):
                self._stops(findings)
                return
            message = reading.effective
            fields = reading.value if isinstance(reading.value, dict) else {}
            without_tuple = fields.get("tuple") is None
            if message is None and fields.get("command") == "emit":
                message = _tupleless(fields)
        if isinstance(message, Emit):
            # A task of 2^32 is 0 only where it is handed on: it was no plain emit.
            plain = _plainly(message) if message is body else message
            self._emit(plain, findings, without_tuple=without_tuple)
        elif not self._stops(findings):
            self._tell(message)

    def call_of(self, message: Any) -> dict[str, Any] | None:
        """The call that a Storm which understands `message` makes, None for what it tells no collector."""
        if isinstance(message, Emit):
            return self._emit_call(_plainly(message), without_tuple=False)
        if isinstance(message, Ack | Fail):
            return {"t": type(message).__name__.lower(), "tuple": self._ids.get(message.id, -1)}
        if isinstance(message, Log):
            level = LEVELS.get(2 if message.level is None else message.level, "INFO")
            return {"t": "log", "level": level, "msg": "null" if message.msg is None else message.msg}
        if isinstance(message, Error):
            text = "null" if message.msg is None else message.msg
            return {"t": "error", "error": f"java.lang.Exception: Shell Process Exception: {text}"}
        if isinstance(message, Metrics):
            return {"t": "metric", "name": message.name, "params": message.params}
        return None

    def _emit_call(self, emit: Emit, *, without_tuple: bool) -> dict[str, Any]:
        call: dict[str, Any] = {"t": "emit", "stream": emit.stream}
        if self._kind == "bolt":
            call["anchors"] = [self._ids.get(anchor, -1) for anchor in emit.anchors]
        if not without_tuple:
            call["tuple"] = emit.values
        if emit.task is not None:
            call["direct"] = emit.task
        if self._kind == "spout" and emit.id is not None:
            call["id"] = emit.id
        return call

    def _emit(self, emit: Emit, findings: Sequence[Finding], *, without_tuple: bool) -> None:
        call = self._emit_call(emit, without_tuple=without_tuple)
        version = self._version.id
        culprit = self._culprit(findings)
        refused = culprit is not None and culprit.rule in _REFUSED
        lost = any(f.rule in _ON_THE_WIRE and f.fates[version] == "loses-data" for f in findings)
        if refused:
            call["refused"] = True
        elif lost:
            call["wire"] = True
        if refused or culprit is None:
            self.told.append(call)
        self._stops(findings)

    def _culprit(self, findings: Sequence[Finding]) -> Finding | None:
        """The first finding for which the message comes to an exception, if any."""
        return next((finding for finding in findings if self._throws(finding) and not self._late(finding)), None)

    def _throws(self, finding: Finding) -> bool:
        version = self._version.id
        fate = finding.fates[version]
        return fate in FATAL or (self._goes_on and throws(finding.rule, fate, finding.errors.get(version, "")))

    def _stops(self, findings: Sequence[Finding]) -> bool:
        """True if the message comes to an exception, be it one that is only reported."""
        culprit = self._culprit(findings)
        if culprit is not None and culprit.fates[self._version.id] not in FATAL:
            self._error(culprit)
            self._failed = True
            return True
        return self._end_by(findings)

    def _end_by(self, findings: Sequence[Finding], *, quiet: bool = False) -> bool:
        """Freeze if one of the findings is fatal here; True if so. `quiet`: thrown out of prepare or open."""
        for finding in findings:
            fate = finding.fates[self._version.id]
            if fate in FATAL:
                self.fate = fate
                if fate == "dies" and not quiet and (self._kind == "bolt" or self._late(finding)):
                    self._error(finding)
                return True
        return False

    def _late(self, finding: Finding) -> bool:
        """True if Storm acts on the message, and dies for want of another."""
        return finding.errors.get(self._version.id) == _TIMEOUT

    def _error(self, finding: Finding) -> None:
        self.told.append({"t": "error", "error": finding.errors.get(self._version.id, "")})

    def _tell(self, message: Any) -> None:
        call = self.call_of(message)
        if call is not None:
            self.told.append(call)
            if call.get("level") == "ERROR" and self._kind == "bolt" and covers(_SHOWN_TO_PEOPLE, self._version.id):
                text = f"ReportedFailedException: ShellLog pid:...name:{self._component} {call['msg']}"
                self.told.append({"t": "error", "error": text})
        elif isinstance(message, Sync):
            self._commands = max(0, self._commands - 1)


def _may_be_decimal(emit: Emit) -> bool:
    return "decimal" in emit.hazards or isinstance(emit.id, float)


def _plainly(emit: Emit) -> Emit:
    """Task 0 is no direct emit."""
    return emit if emit.task else msgspec.structs.replace(emit, task=None)


def _tupleless(fields: dict[str, Any]) -> Emit:
    """An emit without a tuple; the collector is called all the same."""
    emit = emit_of(fields)
    return emit if emit.task is None else msgspec.structs.replace(emit, task=dialects.wrap(emit.task, 32))
