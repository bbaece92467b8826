"""Plays the recorded scripts of real Storm through our host, and compares what we say with what Storm did.

The scripts and Storm's behaviour are data (``conformance/oracle``). For each script and version our ShellBolt or
ShellSpout talks to the scripted player; the judge's outlook is the fate we predict, the collector's view the events.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.catalogue.locate import data_path
from multilang_cli.catalogue.oracle import (
    CASE_FILES,
    Call,
    Case,
    oracle_cases,
    oracle_verdicts,
    plain,
    recorded_events,
    recorded_fate,
    same_event,
    shown,
)
from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.driver.session import POLL_INTERVAL, QUIET_AFTER
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.protocol.storm.collector import Collector
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.words.events import Deadline
from multilang_cli.protocol.words.messages import SpoutCommand, TaskIds, TupleMsg
from multilang_cli.protocol.words.verdicts import FATAL, Fate
from tests.sessions import with_player

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.driver.session import Session
    from multilang_cli.driver.shell.either import Shell
    from multilang_cli.driver.shell.spout import ShellSpout
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding, Profile, StormVersion

MARGIN = 1.3
"""Seconds that a reply may take beyond Storm's own limit, which it looks at once a second."""


def same_events(told: list[Call], events: list[Call]) -> bool:
    """True if call for call the two are the same; of an error, our text must stand in Storm's."""
    return len(told) == len(events) and all(map(same_event, told, events))


class PlayedScript(msgspec.Struct, frozen=True):
    """Our verdict about one script on one version, and Storm's. `rules`: those that the judge saw broken.

    `sent`, `received`: where the script asks for it, what we sent after the handshake, and what Storm did.
    """

    case: str
    version: str
    predicted: Fate
    actual: Fate
    told: list[dict[str, Any]]
    events: list[dict[str, Any]]
    rules: frozenset[str]
    sent: list[str] = []
    received: list[str] = []

    @property
    def agrees(self) -> bool:
        """Fate, events and what was sent are the same; "unknown" is an answer that claims nothing."""
        same = self.predicted == self.actual and same_events(self.told, self.events)
        return self.predicted == "unknown" or (same and self.sent == self.received)


class _Follower:
    """Feeds the collector, collects the rules that are broken, and what Storm's side sends."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.rules: set[str] = set()
        self.sent: list[str] = []

    def take(self, events: Iterable[Event], findings: Sequence[Finding]) -> None:
        """Hand each event on with its own findings, and remember the rules that were broken."""
        self.rules.update(finding.rule for finding in findings)
        for event in events:
            if event.channel == "in" and self.collector.fate not in FATAL:
                self.sent += _as_received(event.body)
            self.collector.feed(event, [finding for finding in findings if finding.seq == event.seq])


def play(name: str, version_id: str) -> PlayedScript:
    """Play the script `name` as Storm `version_id` and compare. Takes as long as the script, at most some seconds."""
    case = oracle_cases()[name]
    version = load_rulebook().version(version_id)
    profile = _profile(case, version)
    follower = _Follower(Collector(version, profile))
    judge = judge_of(profile, load_rulebook())
    shell = with_player(judge, follower, (str(_file_of(name)), name), Path.cwd())
    shell.session.as_storm = True
    with shell.session:
        _converse(shell, case, follower.collector)
    collector = follower.collector
    predicted = next(outlook.fate for outlook in judge.outlook() if outlook.version == version.id)
    recorded = oracle_verdicts()[name][version.id]
    told = [shown(call, version.dialect) for call in collector.told]
    played = PlayedScript(
        name,
        version.id,
        plain(predicted),
        recorded_fate(name, version),
        told,
        recorded_events(recorded),
        frozenset(follower.rules),
    )
    # What the dead were sent, and did not read, nobody knows.
    if not case.get("received") or played.actual in FATAL:
        return played
    received = [_TASK_IDS if isinstance(each, list) else each for each in recorded["received"]]
    received = [each for each in received if each != _HEARTBEAT]
    return msgspec.structs.replace(played, sent=follower.sent, received=received)


_TASK_IDS, _HEARTBEAT = "taskids", "heartbeat"


def _as_received(body: Any) -> list[str]:
    """A message to the component as the player notes it; nothing for the handshake and for heartbeats."""
    if isinstance(body, TaskIds):
        return [_TASK_IDS]
    if isinstance(body, TupleMsg):
        return [] if body.is_heartbeat else ["tuple"]
    if isinstance(body, SpoutCommand):
        return [body.command if body.id == "" else f"{body.command}:{json.dumps(body.id)}"]
    return []


def _profile(case: Case, version: StormVersion) -> Profile:
    profile = example_profile(case["kind"])
    conf = {"storm.cluster.mode": "distributed", **case.get("conf", {})}
    if "heartbeat_s" in case:
        conf[version.timeout_key] = case["heartbeat_s"]
    limits = {"pid": 2.0, "grace": 1.0, "pid-file": 0.2}
    streams = dict(profile.streams or {})
    for name, schema in case.get("schemas", {}).items():
        streams[name] = msgspec.structs.replace(streams[name], schema=schema)
    return msgspec.structs.replace(profile, storm=version.id, conf=conf, limits=limits, streams=streams)


def _converse(shell: Shell, case: Case, collector: Collector) -> None:
    session, profile = shell.session, shell.profile
    conf = context.realistic_conf(base_conf(session.judge.version.id), profile, {})
    handshake = context.handshake(profile, session.judge.version, conf, str(session.process.pid_dir))
    if not session.handshake(handshake, profile.limits["pid"], await_file=True) or collector.fate in FATAL:
        return
    if isinstance(shell, ShellBolt):
        _feed_bolt(shell, case, collector)
    else:
        _call_spout(shell, case, collector)


def _feed_bolt(bolt: ShellBolt, case: Case, collector: Collector) -> None:
    session = bolt.session
    began = session.now
    for given in case.get("tuples", [{"values": ["hello", 1]}]):
        _pump_until(session, session.now + given.get("after_ms", 0) / 1000, case, collector)
        for _ in range(given.get("times", 1)):
            bolt.send(given["values"], given.get("comp", "src"), given.get("stream", "default"), given.get("task", 2))
    # Heartbeats that queue up behind what is not read are no progress, so the bytes written are counted.
    session.wait(lambda: session.idle, case.get("limit_ms", 8000) / 1000, "read", lambda: session.pump.spoken[0])
    _pump_until(session, began + case.get("hold_ms", 0) / 1000, case, collector)
    until = began + case.get("limit_ms", 8000) / 1000
    # A script with a barrier may sleep before it: its silence says nothing.
    silence = QUIET_AFTER if "until_log" not in case else math.inf
    while _goes_on(session, case, collector) and not session.wait_quiet(QUIET_AFTER, silence) and session.now < until:
        pass
    # A component that closed its stdout is quiet, too.
    session.pump.move(POLL_INTERVAL)
    beats = bolt.judge.state.heartbeats
    if beats and session.now - beats[0].t > bolt.judge.timeout:
        session.pump.note("control", Deadline("heartbeat", bolt.judge.timeout))


def _goes_on(session: Session, case: Case, collector: Collector) -> bool:
    """True until the script's barrier, a fatal event, or the end of the component."""
    barrier = case.get("until_log")
    passed = barrier is not None and any(call.get("msg") == barrier for call in collector.told)
    return session.running and collector.fate not in FATAL and not passed


def _pump_until(session: Session, until: float, case: Case, collector: Collector) -> None:
    while _goes_on(session, case, collector) and session.now < until:
        session.pump.move(until - session.now)


def _call_spout(spout: ShellSpout, case: Case, collector: Collector) -> None:
    session = spout.session
    for call in case.get("calls", ["activate", "next"]):
        command, _, argument = call.partition(":")
        if command == "sleep":
            until = session.now + int(argument) / 1000
            while session.now < until:
                session.pump.move(until - session.now)
            continue
        ids = [emit.id for emit in spout.kept.emits if emit.id is not None]
        id_: Any = ids[0] if argument == "$0" and ids else argument
        if not _answers(spout, command, id_, case) or collector.fate in FATAL:
            return
    session.wait_quiet(QUIET_AFTER)


def _answers(spout: ShellSpout, command: str, id_: Any, case: Case) -> bool:
    """True if the command is answered before Storm's subprocess timeout, which begins anew with each message."""
    if "heartbeat_s" not in case or (command in {"activate", "deactivate"} and not spout.version.activate):
        return spout.call(command, id_, case.get("limit_ms", 8000) / 1000)
    spout.ask(command, id_)
    session, limit = spout.session, spout.judge.timeout + MARGIN
    until, spoken = session.now + limit, session.pump.spoken
    while session.running and not spout.answered and session.now < until:
        session.pump.move(until - session.now)
        if session.pump.spoken != spoken:
            until, spoken = session.now + limit, session.pump.spoken
    return spout.wait_sync(limit if spout.answered else 0.0)


def _file_of(case: str) -> Path:
    """The file that holds the script `case`."""
    files = (data_path("conformance", "oracle", name) for name in CASE_FILES)
    return next(file for file in files if any(each["case"] == case for each in json.loads(file.read_bytes())))
