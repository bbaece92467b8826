"""Where the two sides part, marker by marker: first in their calls, then in what became of the data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.oracle import (
    Call,
    Case,
    Verdict,
    fate_of,
    meant_calls,
    plain,
    recorded_events,
)
from multilang_cli.protocol.words.verdicts import FATAL, FATES
from tests.agreement.playing import same_events
from tests.differential.scripts import MARK, OVER
from tests.differential.sides import marker_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.words.verdicts import Fate, Finding
    from tests.differential.sides import Told

_ID = re.compile(r"-?[0-9]{12,}|(?<=position )[0-9]+")
LEAST_ID = 10**12
"""Numbers from here on are taken for random 64-bit ids: one in four million is less."""
BEYOND = ("loses-data", "survives")
"""What the calls can't decide where nobody can say what was meant, or what was lost is no call: a sync, a pid."""
ENDS: dict[str, Fate] = {"rejected": "dies", "hung": "hangs"}


@dataclass(frozen=True)
class Difference:
    """A part of a script on which the two sides differ. `outputs`: the numbers of its outputs, first and last."""

    case: str
    kind: str
    outputs: tuple[int, int]
    what: str
    predicted: str
    actual: str
    rules: tuple[str, ...]
    told: list[Call]
    events: list[Call]
    error: str

    @property
    def sort(self) -> str:
        """What stays the same while an example shrinks."""
        ours, theirs = first_difference(self.told, self.events)
        calls = f", {ours} for {theirs}" if self.what == "events" else ""
        return f"{self.kind} {self.what}: {self.predicted} for {self.actual}{calls}"

    @property
    def signature(self) -> str:
        """What differences have in common that probably have one cause."""
        return f"{self.sort} [{' '.join(self.rules)}]"

    def __str__(self) -> str:
        return f"{self.signature}\n  mlcheck: {self.told}\n  Storm:   {self.events} {self.error}"


def first_difference(told: list[Call], events: list[Call]) -> tuple[str, str]:
    """The kinds of the first two calls that differ, and the keys in which they do."""
    for ours, theirs in zip_longest(told, events):
        if ours is None or theirs is None or not same_events([ours], [theirs]):
            keys = sorted(k for k in {**(ours or {}), **(theirs or {})} if (ours or {}).get(k) != (theirs or {}).get(k))
            return (ours or {"t": "nothing"})["t"], " ".join([(theirs or {"t": "nothing"})["t"], *keys])
    return "", ""


def parts(calls: list[Call]) -> list[tuple[str, list[Call]]]:
    """The calls up to each marker, with its name; at the end what came after the last one, as ""."""
    found: list[tuple[str, list[Call]]] = []
    since: list[Call] = []
    for call in calls:
        mark = marker_of(call)
        if mark:
            found.append((mark, since))
            since = []
        else:
            since.append(call)
    return [*found, ("", since)]


def compare(case: Case, told: Told, verdict: Verdict, version_id: str) -> list[Difference]:
    """Where mlcheck and Storm differ about a script; nothing if they agree.

    From the first marker on that only one side has, nothing more is compared.
    """
    kind = "pid" if "handshake" in case else case["kind"]
    if told.crash:
        error = told.crash.strip().splitlines()[-1]
        return [Difference(case["case"], kind, (0, _last_output(case)), "crash", error, "", (), [], [], told.crash)]
    meant = _by_mark(parts(meant_calls(case, load_rulebook().version(version_id))), verdict)
    differences = []
    begin = 0
    done: set[str] = set()
    for (mark, calls), (their_mark, raw) in zip(parts(told.calls), parts(verdict["events"]), strict=False):
        end = int(mark.removeprefix(MARK)) if mark.startswith(MARK) else _last_output(case)
        events = recorded_events({"events": raw})
        predicted, rules = _worst(_found_before(mark, told.found, done), version_id)
        actual = _fate_of_part(their_mark, raw, meant.get(their_mark, []), verdict)
        same = mark == their_mark and same_events(*without_ids(case, calls, events))
        agree = predicted in {actual, "unknown"} or (not meant.get(mark) and (predicted, actual) == BEYOND)
        if not same or not agree:
            what = "fate" if same else "events"
            error = "" if their_mark else " ".join(verdict.get("error", []))
            outputs = (min(begin, end), end)
            differences.append(
                Difference(case["case"], kind, outputs, what, predicted, actual, rules, calls, events, error)
            )
        if mark != their_mark:
            break
        begin = end + 1
        done.add(mark)
    return differences


def without_ids(case: Case, *sides: list[Call]) -> list[list[Call]]:
    """The calls, without the ids of tuples if the script put one where values stand: they differ from run to run."""
    if not any("$ID" in step.get("raw", "") for step in case["steps"]):
        return list(sides)
    return [_without_ids(calls) for calls in sides]


def _without_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_ids(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_ids(item) for key, item in value.items()}
    long_number = type(value) is int and abs(value) >= LEAST_ID
    return "<id>" if long_number else _ID.sub("<id>", value) if isinstance(value, str) else value


def _by_mark(meant: list[tuple[str, list[Call]]], verdict: Verdict) -> dict[str, list[Call]]:
    """What was meant before each marker that arrived; one that was lost is among it."""
    arrived = {marker_of(call) for call in verdict["events"]} - {""}
    found: dict[str, list[Call]] = {}
    since: list[Call] = []
    for mark, calls in meant:
        since += calls
        if mark in arrived or mark == "":
            found[mark], since = since, []
        else:
            since.append({"t": "log", "level": "INFO", "msg": mark})
    return found


def _last_output(case: Case) -> int:
    return sum(f'"{MARK}' in step.get("raw", "") for step in case["steps"]) - 1


def _found_before(mark: str, found: list[Finding | str], done: set[str]) -> Iterator[Finding]:
    """What was found since the markers in `done`, up to `mark`; "" means up to the end."""
    since: list[Finding] = []
    for each in found:
        if not isinstance(each, str):
            since.append(each)
        elif each in done:
            since = []
        elif each == mark:
            break
    yield from since


def _worst(found: Iterator[Finding], version: str) -> tuple[str, tuple[str, ...]]:
    worst: Fate = "survives"
    rules = set()
    for finding in found:
        rules.add(finding.rule)
        worst = max(worst, finding.fates[version], key=FATES.index)
        if worst in FATAL:
            break
    return plain(worst), tuple(sorted(rules))


def _fate_of_part(mark: str, raw: list[Call], meant: list[Call], verdict: Verdict) -> str:
    if not mark and verdict["verdict"] in ENDS:
        return ENDS[verdict["verdict"]]
    if not mark and any(marker_of(call) == OVER for call in verdict["events"]):
        return "survives"
    return fate_of({"verdict": "accepted", "events": raw}, meant)
