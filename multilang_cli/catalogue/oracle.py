"""Answers of real Storm to the recorded scripts (``conformance/oracle``), and the rules that they confirm.

Data alone: no Java and no process. The scripts are played against our own host in ``tests/agreement``.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from multilang_cli.catalogue import locate
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.protocol.storm.collector import Collector
from multilang_cli.protocol.storm.dialects import Dialect, java_class
from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.events import Event
from multilang_cli.protocol.words.messages import Malformed, TupleMsg
from multilang_cli.protocol.words.rulebook import covers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.words.messages import FromComponent
    from multilang_cli.protocol.words.verdicts import Effect, Fate, Rule, StormVersion

Case = dict[str, Any]
Call = dict[str, Any]
Verdict = dict[str, Any]

CASE_FILES = ("cases.json", "more-cases.json")
VERDICT_FILES = ("verdicts.json", "more-verdicts.json")
LISTED = frozenset({"emit", "ack", "fail", "error", "log", "metric"})
"""The collector's calls that are compared; what Storm did with stderr and when its calls returned is not."""
SHADE = "org.apache.storm.shade."
"""Where Storm keeps its own copy of a library since 0.10: nothing to people who search for an error."""
KEPT_TEXT = 120
"""Characters of an error that are compared: the recording cuts longer texts."""
SHOWN_DEPTH = 6
"""Lists nested deeper are cut in the recorded events."""

_LONG_NUMBER = re.compile(r"-?[0-9]{12,}")
_TUPLE_ID = re.compile(rb"\$ID([0-9]+)")
_NARROW = {"BigDecimal": "Double", "BigInteger": "Long", "Integer": "Long"}
_FIRST_ID = 7000
_PID = b"4711"


@cache
def oracle_cases() -> dict[str, Case]:
    """The scripts by name (``conformance/oracle/README.md`` describes them)."""
    return {case["case"]: case for name in CASE_FILES for case in _read(name)}


@cache
def oracle_verdicts() -> dict[str, dict[str, Verdict]]:
    """Storm's recorded verdicts, by script, then by version."""
    return {case: verdicts for name in VERDICT_FILES for case, verdicts in _read(name).items()}


@cache
def _read(name: str) -> Any:
    return json.loads(locate.data_path("conformance", "oracle", name).read_text(encoding="utf-8"))


# what confirms a rule


def confirmed_on(rule: Rule) -> dict[str, tuple[str, ...]]:
    """The verified versions on which real Storm dealt out every fate that `rule` names, with the scripts that show it.

    Newest first. A version is missing if a variant of the rule claims a fate for it that no script confirms.
    """
    effects = [(effect, shown_on(effect)) for effect in rule.effects if effect.fate != "unknown"]
    confirmed: dict[str, tuple[str, ...]] = {}
    for version in reversed(verified()):
        shown = [on.get(version.id, ()) for effect, on in effects if covers(effect.versions, version.id)]
        if shown and all(shown):
            confirmed[version.id] = tuple(dict.fromkeys(name for names in shown for name in names))
    return confirmed


def shown_on(effect: Effect) -> dict[str, tuple[str, ...]]:
    """The verified versions on which real Storm dealt out the fate of `effect`, with the scripts that show it.

    Newest first. A script that was not played to a version shows nothing there.
    """
    shown = {
        version.id: tuple(
            name
            for name in effect.confirmed_by
            if version.id in oracle_verdicts().get(name, {}) and recorded_fate(name, version) == plain(effect.fate)
        )
        for version in reversed(verified())
        if covers(effect.versions, version.id)
    }
    return {version: names for version, names in shown.items() if names}


@cache
def rules_of_scripts() -> dict[str, tuple[str, ...]]:
    """The rules whose fates a script shows, by script. Not to be changed: it is kept."""
    found: dict[str, tuple[str, ...]] = {}
    for rule in load_rulebook().rules.values():
        for name in dict.fromkeys(name for effect in rule.effects for name in effect.confirmed_by):
            found[name] = (*found.get(name, ()), rule.id)
    return found


def verified() -> list[StormVersion]:
    """The versions whose own classes were asked, the oldest first."""
    return [version for version in load_rulebook().versions if version.verified]


def plain(fate: Fate) -> Fate:
    """The events without what is ignored: that leaves no trace in a recorded verdict."""
    return "survives" if fate == "ignored" else fate


@cache
def recorded_fate(case: str, version: StormVersion) -> Fate:
    """The fate of the worker and its data on Storm `version`. Raises KeyError if it was not asked."""
    return fate_of(oracle_verdicts()[case][version.id], meant_calls(oracle_cases()[case], version))


def fate_of(recorded: Verdict, meant: list[Call]) -> Fate:
    """The fate that a recorded verdict amounts to, given the calls that the component meant to cause."""
    if recorded["verdict"] == "rejected":
        return "dies"
    if recorded["verdict"] == "hung":
        return "hangs"
    events = recorded_events(recorded)
    if any(event.get("refused") or event.get("wire") for event in events):
        return "loses-data"
    for call in meant:
        kept = next((event for event in events if _kept(call, event)), None)
        if kept is None:
            return "loses-data"
        events.remove(kept)
    return "survives"


def _kept(call: Call, event: Call) -> bool:
    """True if `event` is what was meant; a log line reaches its reader at whatever level."""
    if "lost" in call:
        return False
    if call["t"] == event["t"] == "log":
        return bool(call["msg"] == event["msg"])
    return same_event(_rounded(call), _rounded(event))


def _rounded(call: Call) -> Call:
    """The call without the difference between a number's classes: a BigDecimal of the same value loses nothing."""
    if "id" in call:
        call = {**call, "id": _round(call["id"]), "id_type": _NARROW.get(call["id_type"], call["id_type"])}
    if call["t"] == "emit" and "types" in call:
        return {**call, "tuple": list(map(_round, call["tuple"])), "types": [_NARROW.get(t, t) for t in call["types"]]}
    return {**call, "params": _round(call["params"])} if call["t"] == "metric" else call


def _round(value: Any) -> Any:
    kind, _, digits = value.partition(":") if isinstance(value, str) else ("", "", "")
    return {"BigDecimal": float, "BigInteger": int}[kind](digits) if kind in {"BigDecimal", "BigInteger"} else value


def meant_calls(case: Case, version: StormVersion) -> list[Call]:
    """The calls of the collector that a Storm makes which understands all that the script's component says."""
    collector = Collector(version, example_profile(case["kind"]))
    for number in range(sum(given.get("times", 1) for given in case.get("tuples", [{}]))):
        sent = TupleMsg("src", [], 2, "default", str(_FIRST_ID + number))
        collector.feed(Event(number, 0.0, "in", sent), [])
    framer = Framer()
    frames = framer.feed(written_by(case, version))
    bodies = [read_frame(frame, expecting_pid=number == 0) for number, frame in enumerate(frames)]
    return [call for body in bodies for call in _calls_of(body, collector, version)]


def _calls_of(body: FromComponent | Malformed, collector: Collector, version: StormVersion) -> Iterator[Call]:
    damaged = isinstance(body, Malformed) and body.kind == "utf8-invalid"
    for message in body.salvage if isinstance(body, Malformed) else [body]:
        if (call := collector.call_of(message)) is not None:
            # What the damaged text was to be nobody can tell: nothing that arrives is equal to it.
            yield shown(call, version.dialect) | ({"lost": True} if damaged and _is_damaged(call) else {})


def _is_damaged(call: Call) -> bool:
    return "\ufffd" in json.dumps(call, ensure_ascii=False, default=str)


def written_by(case: Case, version: StormVersion) -> bytes:
    """The bytes that the script's component writes to its stdout, with tuple ids counted from 7000."""
    data = bytearray()
    for step in [*case.get("handshake", [{"raw": '{"pid":$PID}\nend\n'}]), *case["steps"]]:
        never_sent = step.get("read") in {"activate", "deactivate"} and not version.activate
        if step.keys() & {"exit", "kill"} or step.get("close") == "stdout" or never_sent:
            break
        data += _bytes_of(step)
    text = _TUPLE_ID.sub(lambda match: str(_FIRST_ID + int(match[1])).encode(), bytes(data))
    return text.replace(b"$HBID", b"9").replace(b"$PID", _PID)


def _bytes_of(step: dict[str, Any]) -> bytes:
    if "hex" in step:
        return bytes.fromhex(step["hex"])
    if "raw" in step:
        return _encoded(step["raw"]) * int(step.get("times", 1))
    parts = [(part, 1) if isinstance(part, str) else part for part in step.get("cat", [])]
    return b"".join(_encoded(text) * times for text, times in parts)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# calls of the collector, compared


def shown(event: Call, dialect: Dialect) -> Call:
    """One of our calls in the form of the recorded ones: values with their Java classes, odd ones as text."""
    event = dict(event)
    if "tuple" in event and event["t"] == "emit":
        event["types"] = [java_class(value, dialect) for value in event["tuple"]]
        event["tuple"] = _shown_value(event["tuple"], dialect, 0)
    if "id" in event:
        event["id_type"] = java_class(event["id"], dialect)
        event["id"] = _shown_value(event["id"], dialect, 0)
    if "params" in event:
        event["params"] = _shown_value(event["params"], dialect, 0)
    return event


def _shown_value(value: Any, dialect: Dialect, depth: int) -> Any:
    if isinstance(value, list):
        if depth >= SHOWN_DEPTH:
            return ["...deeper"]
        return [_shown_value(item, dialect, depth + 1) for item in value]
    if isinstance(value, dict):
        return {key: _shown_value(item, dialect, depth + 1) for key, item in value.items()}
    kind = java_class(value, dialect)
    if kind in {"BigDecimal", "BigInteger"}:
        return f"{kind}:{value}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{kind}:{'NaN' if math.isnan(value) else 'Infinity' if value > 0 else '-Infinity'}"
    return value


def recorded_events(recorded: Verdict) -> list[Call]:
    """The recorded calls that are compared, without the tasks that chance chose."""
    events = [{key: value for key, value in event.items() if key != "to"} for event in recorded["events"]]
    for event in events:
        if "wire" in event:
            event["wire"] = True
    return [event for event in events if event["t"] in LISTED]


def same_event(told: Call, event: Call) -> bool:
    """True if the two calls are the same; of an error, our text must stand in Storm's."""
    if told["t"] == event["t"] == "error":
        ours = _LONG_NUMBER.sub("<id>", told["error"].replace(SHADE, "")).removesuffix("\n")[:KEPT_TEXT]
        return bool(ours) and any(_says(text.replace(SHADE, ""), ours) for text in event["error"])
    return json.dumps(told, sort_keys=True) == json.dumps(event, sort_keys=True)


def _says(text: str, ours: str) -> bool:
    """True if `ours` stands in `text`; "..." in it stands for what differs each time."""
    return all(part in text for part in ours.split("..."))
