"""Effects of a breach on each Storm version: from the rule's effects, or from what that version's parser reads."""

from __future__ import annotations

import hashlib
import math
from decimal import Decimal
from typing import Any

import msgspec

from multilang_cli.protocol.storm.dialects import BigInteger
from multilang_cli.protocol.words.messages import (
    DialectReading,
    Emit,
    FromComponent,
    Log,
    Malformed,
    Metrics,
    Pid,
    Sync,
)
from multilang_cli.protocol.words.rulebook import HARMLESS, Rulebook, VersionEffect, covers
from multilang_cli.protocol.words.verdicts import FATAL, FATES, Fate, Finding, Kind, Outlook, Profile, StormVersion

# Shapes that the parser lets through and the shell class then stumbles over: the rule knows how.
_AFTER_READING = frozenset(
    {
        "anchors-type",
        "command-unknown",
        "metric-name",
        "pid-missing",
        "pid-not-first",
        "settle-id-missing",
        "settle-id-type",
        "tuple-missing",
    }
)
_LOST = VersionEffect("loses-data", "")
_WEIGHT = {fate: weight for weight, fate in enumerate(FATES)}


SERIALIZED = frozenset({"nested-value", "decimal-value"})
"""Breaches that show when the tuple is serialized for another worker."""


class Outlooks:
    """One outlook a version: the worst fate so far; after the first fatal event nothing changes any more."""

    def __init__(self, rulebook: Rulebook) -> None:
        self._by_version = {v.id: Outlook(v.id, "survives") for v in rulebook.versions}

    def add(self, finding: Finding) -> None:
        """Take a finding into account."""
        self.note(finding.fates, finding.seq, finding.rule)

    def note(self, fates: dict[str, Fate], seq: int, rule: str) -> None:
        """Take fates by version into account, which come of a breach of `rule` at the event `seq`."""
        for version, fate in fates.items():
            now = self._by_version[version]
            if now.fate not in FATAL and _WEIGHT[fate] > _WEIGHT[now.fate]:
                self._by_version[version] = Outlook(version, fate, seq, rule)

    def fate(self, version: str) -> Fate:
        """The fate so far on one version."""
        return self._by_version[version].fate

    def all(self) -> tuple[Outlook, ...]:
        """The outlooks, oldest version first."""
        return tuple(self._by_version.values())

    def restore(self, outlooks: tuple[Outlook, ...]) -> None:
        """Go on from outlooks that were saved, of the versions that are known here."""
        known = self._by_version.keys()
        self._by_version.update({outlook.version: outlook for outlook in outlooks if outlook.version in known})


def effects_of_malformed(
    malformed: Malformed, profile: Profile, rulebook: Rulebook, when: str, *, first: bool
) -> dict[str, VersionEffect]:
    """Effects of an irregular frame by version: refuse it, misread it, or see what was meant.

    `first`: it stands in the place of the pid.
    """
    kind = profile.kind
    by_rule = rulebook.effects(malformed.kind, when)
    if not malformed.by_dialect:
        return by_rule
    effects: dict[str, VersionEffect] = {}
    for version in rulebook.versions:
        reading = malformed.by_dialect[version.dialect]
        if refused(reading, kind):
            effects[version.id] = VersionEffect("dies", reading.error or "")
        elif reading.error is None and malformed.strict and malformed.kind in _AFTER_READING:
            effects[version.id] = by_rule[version.id]
        else:
            effects[version.id] = _effect_of_reading(malformed, reading, kind, first=first)
    return effects


def _effect_of_reading(malformed: Malformed, reading: DialectReading, kind: Kind, *, first: bool) -> VersionEffect:
    """The effect of a frame that a version's parser reads: nothing, if that is what was meant."""
    fields = reading.value if isinstance(reading.value, dict) else {}
    command = fields.get("command")
    if kind == "spout" and not first and reading.effective is None and command is not None and command != "emit":
        return VersionEffect("dies", f"Unknown command received: {command}")
    # A lost pid is missed by nobody, and a lost sync by whom the next one does not reach.
    meant = [relevant(message, kind) for message in malformed.salvage if not isinstance(message, Pid | Sync)]
    if not meant:
        return HARMLESS
    if reading.effective is None or len(meant) > 1:
        return _LOST
    read = relevant(reading.effective, kind)
    # Both sides read U+FFFD where the text was: equal, and damaged.
    damaged = malformed.kind == "utf8-invalid" and "\ufffd" in str(read)
    return HARMLESS if same_message(meant[0], read) and not damaged else _LOST


def relevant(message: FromComponent, kind: Kind) -> FromComponent:
    """A message without what Storm ignores in it: the id of a bolt's emit, the anchors of a spout's."""
    if not isinstance(message, Emit):
        return message
    ignored: dict[str, Any] = {"id": None} if kind == "bolt" else {"anchors": ()}
    return msgspec.structs.replace(message, need_task_ids=True, **ignored)


def refused(reading: DialectReading, kind: Kind) -> bool:
    """True if a component of this kind dies of what was read. Of a null anchor only bolts do."""
    return reading.error is not None and not (kind == "spout" and isinstance(reading.effective, Emit))


def goes_on(profile: Profile, version: StormVersion) -> bool:
    """True if a bolt's error is only reported: in local mode, since 2.0 (``ShellBolt.die``)."""
    return profile.local and profile.kind == "bolt" and covers(">=2.0", version.id)


def throws(rule: str, fate: Fate, error: str) -> bool:
    """True if the message comes to an exception. Where it kills nobody, it has a text all the same.

    What shows only when the tuple is serialized has a text, too: then the message has passed.
    """
    return fate == "dies" or (bool(error) and rule not in SERIALIZED)


def same_message(meant: FromComponent, read: FromComponent) -> bool:
    """True if the two do the same in Storm."""
    if type(meant) is not type(read):
        return False
    if isinstance(meant, Emit) and isinstance(read, Emit):
        return (
            meant.stream == read.stream
            and (meant.task or 0) == (read.task or 0)
            and meant.anchors == read.anchors
            and meant.need_task_ids == read.need_task_ids
            and same_value(meant.id, read.id)
            and same_value(meant.values, read.values)
        )
    if isinstance(meant, Log) and isinstance(read, Log):
        return meant.msg == read.msg
    if isinstance(meant, Metrics) and isinstance(read, Metrics):
        return meant.name == read.name and same_value(meant.params, read.params)
    return meant == read


def same_value(one: Any, other: Any) -> bool:
    """Equality of JSON values, however deep, in which 1, 1.0 and true are three things and NaN is itself.

    A BigInteger or BigDecimal is the number that is meant, where a Long or Double of the same digits is.
    """
    pairs = [(one, other)]
    while pairs:
        one, other = map(_plain, pairs.pop())
        if type(one) is not type(other):
            return False
        if isinstance(one, list):
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif isinstance(one, dict):
            if one.keys() != other.keys():
                return False
            pairs.extend((value, other[key]) for key, value in one.items())
        elif one != other and not (isinstance(one, float) and math.isnan(one) and math.isnan(other)):
            return False
    return True


def _plain(value: Any) -> Any:
    """A number without the size that Java's class gives it."""
    return int(value) if isinstance(value, BigInteger) else float(value) if isinstance(value, Decimal) else value


def fingerprint(*parts: str) -> str:
    """The same for the same breach from run to run: made of the rule and of names, never of ids or times."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
