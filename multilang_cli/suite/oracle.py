"""Plays the recorded scripts of real Storm through our host, and compares what we say with what Storm did.

The scripts and Storm's behaviour are data (``conformance/oracle``). For each script and version our ShellBolt or
ShellSpout talks to the scripted player; the judge's outlook is the fate we predict, the collector's view the events.
"""

from __future__ import annotations

import json
import math
import re
import sys
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue import locate
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.component import player
from multilang_cli.host.launch import environment
from multilang_cli.host.process import ComponentProcess, private_pid_dir
from multilang_cli.host.shell_bolt import ShellBolt
from multilang_cli.host.shell_spout import ShellSpout
from multilang_cli.protocol import context
from multilang_cli.protocol.collector import Collector
from multilang_cli.protocol.conversation import Conversation
from multilang_cli.protocol.dialects import Dialect, java_class
from multilang_cli.protocol.messages import Malformed
from multilang_cli.protocol.verdicts import FATAL, Fate

if TYPE_CHECKING:
    from multilang_cli.host.session import Session
    from multilang_cli.protocol.events import Event
    from multilang_cli.protocol.verdicts import Profile, StormVersion

LISTED = frozenset({"emit", "ack", "fail", "error", "log", "metric"})
"""The collector's calls that are compared; what Storm did with stderr and when its calls returned is not."""
SHADE = "org.apache.storm.shade."
"""Where Storm keeps its own copy of a library since 0.10: nothing to people who search for an error."""
KEPT_TEXT = 120
"""Characters of an error that are compared: the recording cuts longer texts."""
_LONG_NUMBER = re.compile(r"-?[0-9]{12,}")
SHOWN_DEPTH = 6
"""Lists nested deeper are cut in the recorded events."""
MARGIN = 1.3
"""Seconds that a reply may take beyond Storm's own limit, which it looks at once a second."""


class Played(msgspec.Struct, frozen=True):
    """What we say about one script on one version, and what Storm did."""

    case: str
    version: str
    predicted: Fate
    actual: Fate
    told: list[dict[str, Any]]
    events: list[dict[str, Any]]

    @property
    def agrees(self) -> bool:
        """Fate and events are the same; "unknown" is an answer that claims nothing."""
        return self.predicted == "unknown" or (self.predicted == self.actual and same_events(self.told, self.events))


@cache
def oracle_cases() -> dict[str, dict[str, Any]]:
    """The scripts by name (``conformance/oracle/README.md`` describes them)."""
    cases = json.loads(_file("cases.json").read_text(encoding="utf-8"))
    return {case["case"]: case for case in cases}


@cache
def oracle_verdicts() -> dict[str, dict[str, dict[str, Any]]]:
    """What Storm did, by script, then by version."""
    verdicts: dict[str, dict[str, dict[str, Any]]] = json.loads(_file("verdicts.json").read_text(encoding="utf-8"))
    return verdicts


def _file(name: str) -> Path:
    return locate.data_path("conformance", "oracle", name)


class _Follower:
    """Feeds the collector, and collects the messages that the component meant to send."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.meant: list[Any] = []
        self.session: Session | None = None

    def write(self, event: Event) -> None:
        findings = self.session.found if self.session is not None else []
        self.collector.feed(event, findings)
        if event.channel == "out":
            body = event.body
            self.meant.extend(body.salvage if isinstance(body, Malformed) else [body])


def play(name: str, version_id: str) -> Played:
    """Play the script `name` as Storm `version_id` and compare. Takes as long as the script, at most some seconds."""
    case = oracle_cases()[name]
    version = load_rulebook().version(version_id)
    profile = _profile(case, version)
    follower = _Follower(Collector(version, profile))
    judge = Conversation(profile, load_rulebook())
    process = ComponentProcess.start(
        [sys.executable, "-I", "-S", player.__file__, str(_file("cases.json")), name],
        cwd=Path.cwd(),
        env=environment({}),
        pid_dir=private_pid_dir(),
    )
    session: ShellBolt | ShellSpout
    if profile.kind == "bolt":
        session = ShellBolt(process, judge, [follower], timer=1.0)
    else:
        session = ShellSpout(process, judge, [follower])
    follower.session = session
    with session:
        _converse(session, case, follower.collector)
    collector = follower.collector
    predicted = next(outlook.fate for outlook in judge.outlook() if outlook.version == version.id)
    recorded = oracle_verdicts()[name][version.id]
    told = [shown(call, version.dialect) for call in collector.told]
    meant = [shown(call, version.dialect) for call in map(collector.call_of, follower.meant) if call is not None]
    return Played(name, version.id, _plain(predicted), fate_of(recorded, meant), told, recorded_events(recorded))


def _profile(case: dict[str, Any], version: StormVersion) -> Profile:
    profile = example_profile(case["kind"])
    conf = {"storm.cluster.mode": "distributed", **case.get("conf", {})}
    if "heartbeat_s" in case:
        conf[version.timeout_key] = case["heartbeat_s"]
    limits = {"pid": 2.0, "grace": 1.0, "pid-file": 0.0}
    return msgspec.structs.replace(profile, storm=version.id, conf=conf, limits=limits)


def _converse(session: ShellBolt | ShellSpout, case: dict[str, Any], collector: Collector) -> None:
    version, profile = session.version, session.profile
    conf = context.realistic_conf(base_conf(version.id), profile, {})
    handshake = context.handshake(profile, version, conf, str(session.process.pid_dir))
    if not session.handshake(handshake, profile.limits["pid"]) or collector.fate in FATAL:
        return
    if isinstance(session, ShellBolt):
        _feed_bolt(session, case, collector)
    else:
        _call_spout(session, case, collector)


def _feed_bolt(bolt: ShellBolt, case: dict[str, Any], collector: Collector) -> None:
    began = bolt.now
    for given in case.get("tuples", [{"values": ["hello", 1]}]):
        _pump_until(bolt, bolt.now + given.get("after_ms", 0) / 1000, collector)
        bolt.send(given["values"], given.get("comp", "src"), given.get("stream", "default"), given.get("task", 2))
    bolt.flush(case.get("limit_ms", 8000) / 1000)
    _pump_until(bolt, began + case.get("hold_ms", 0) / 1000, collector)
    until = began + case.get("limit_ms", 8000) / 1000
    while bolt.running and collector.fate not in FATAL and not bolt.wait_quiet(0.5) and bolt.now < until:
        pass


def _pump_until(bolt: ShellBolt, until: float, collector: Collector) -> None:
    while bolt.running and bolt.now < until and collector.fate not in FATAL:
        bolt.pump(until - bolt.now)


def _call_spout(spout: ShellSpout, case: dict[str, Any], collector: Collector) -> None:
    limit = spout.judge.timeout + MARGIN if "heartbeat_s" in case else case.get("limit_ms", 8000) / 1000
    for call in case.get("calls", ["activate", "next"]):
        command, _, argument = call.partition(":")
        if command == "sleep":
            until = spout.now + int(argument) / 1000
            while spout.now < until:
                spout.pump(until - spout.now)
            continue
        ids = [emit.id for emit in spout.emits if emit.id is not None]
        id_: Any = ids[0] if argument == "$0" and ids else argument
        if not spout.call(command, id_, limit) or collector.fate in FATAL:
            return
    spout.wait_quiet(0.5)


def fate_of(recorded: dict[str, Any], meant: list[dict[str, Any]]) -> Fate:
    """The fate that a recorded verdict amounts to, given the calls that the component meant to cause."""
    if recorded["verdict"] == "rejected":
        return "dies"
    if recorded["verdict"] == "hung":
        return "hangs"
    events = recorded_events(recorded)
    if any(event.get("refused") or event.get("wire") for event in events):
        return "loses-data"
    kept = all(any(_kept(call, event) for event in events) for call in meant)
    return "survives" if kept else "loses-data"


def _kept(call: dict[str, Any], event: dict[str, Any]) -> bool:
    """True if `event` is what was meant; a log line reaches its reader at whatever level."""
    if call["t"] == event["t"] == "log":
        return bool(call["msg"] == event["msg"])
    return _same_event(call, event)


def _plain(fate: Fate) -> Fate:
    """What is ignored leaves no trace in a recorded verdict."""
    return "survives" if fate == "ignored" else fate


def shown(event: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """One of our calls in the form of the recorded ones: values with their Java classes, odd ones as text."""
    event = dict(event)
    if "tuple" in event and event["t"] == "emit":
        event["types"] = [java_class(value, dialect) for value in event["tuple"]]
        event["tuple"] = [_shown_value(value, 0) for value in event["tuple"]]
    if "id" in event:
        event["id_type"] = java_class(event["id"], dialect)
    return event


def _says(text: str, ours: str) -> bool:
    """True if `ours` stands in `text`; "..." in it stands for what differs each time."""
    return all(part in text for part in ours.split("..."))


def _shown_value(value: Any, depth: int) -> Any:
    if isinstance(value, list):
        if depth >= SHOWN_DEPTH - 1:
            return ["...deeper"]
        return [_shown_value(item, depth + 1) for item in value]
    if isinstance(value, Decimal):
        return f"BigDecimal:{value}"
    if isinstance(value, float) and math.isnan(value):
        return "Float:NaN"
    return value


def recorded_events(recorded: dict[str, Any]) -> list[dict[str, Any]]:
    """The recorded calls that are compared, without the tasks that chance chose."""
    events = [{key: value for key, value in event.items() if key != "to"} for event in recorded["events"]]
    for event in events:
        if "wire" in event:
            event["wire"] = True
    return [event for event in events if event["t"] in LISTED]


def same_events(told: list[dict[str, Any]], events: list[dict[str, Any]]) -> bool:
    """True if call for call the two are the same; of an error, our text must stand in Storm's."""
    return len(told) == len(events) and all(map(_same_event, told, events))


def _same_event(told: dict[str, Any], event: dict[str, Any]) -> bool:
    if told["t"] == event["t"] == "error":
        ours = _LONG_NUMBER.sub("<id>", told["error"].replace(SHADE, "")).strip().splitlines()
        return bool(ours) and any(_says(text.replace(SHADE, ""), ours[0][:KEPT_TEXT]) for text in event["error"])
    return json.dumps(told, sort_keys=True) == json.dumps(event, sort_keys=True)
