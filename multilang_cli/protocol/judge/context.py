"""Base of the judge, for its rules: the profile, its memory, and how a breach is recorded."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.protocol.judge.state import REMEMBERED, Later, State
from multilang_cli.protocol.storm.outlooks import Outlooks, fingerprint, goes_on, throws
from multilang_cli.protocol.storm.serializing import effects_with
from multilang_cli.protocol.storm.taking import is_emit
from multilang_cli.protocol.words.events import Event
from multilang_cli.protocol.words.messages import Json, Malformed, Sync
from multilang_cli.protocol.words.rulebook import HARMLESS, VersionEffect
from multilang_cli.protocol.words.shortening import bounded
from multilang_cli.protocol.words.verdicts import (
    LONGEST_MESSAGE,
    LONGEST_SUBJECT,
    Fate,
    Finding,
    Outlook,
    Profile,
    StreamSpec,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Level, StormVersion

DEFAULT_TIMEOUT = 30.0
"""Seconds of Storm's subprocess timeout where conf does not say."""

ValuesCheck = Callable[[str, list[Json]], str]
"""Says why the values on a stream are not what was declared, "" if they are."""

Handler = Callable[[Any, Event, Any], None]
"""Judges one event; its first argument is the judge, of which it sees a `RuleContext`."""


class Role(NamedTuple):
    """A role beside those of bolts and spouts, with rules of its own.

    `around`: the handlers of a judge, with those of the role; `ignored`: rules that are not looked at in it; `shows`:
    True for a rule whose findings are shown, and do not only count for what becomes of Storm.
    """

    around: Callable[[dict[type, Handler]], dict[type, Handler]]
    ignored: frozenset[str] = frozenset()
    shows: Callable[[str], bool] = lambda _: True


class RuleContext:
    """A judge as its rules see it: the profile, the state of the conversation, and where breaches are recorded."""

    def __init__(
        self,
        profile: Profile,
        rulebook: Rulebook,
        check_values: ValuesCheck | None = None,
        roles: Sequence[Role] = (),
    ) -> None:
        self.profile = profile
        self.rulebook = rulebook
        self.check_values = check_values
        self.state = State()
        self.streams: dict[str, StreamSpec] | None = profile.streams
        self.version = rulebook.version(profile.storm) if profile.storm else rulebook.newest
        self.timeout = storm_timeout(profile.conf, self.version)
        self.arities = {} if check_values else _arities(profile)
        self._outlooks = Outlooks(rulebook)
        self._dialects = {version.id: version.dialect for version in rulebook.versions}
        self._forgiving = frozenset(version.id for version in rulebook.versions if goes_on(profile, version))
        self._only: frozenset[str] | None = None
        self._found: list[Finding] = []
        self._roles = tuple(roles)

    def breach(
        self,
        rule: str,
        event: Event,
        message: str,
        *,
        when: str = "",
        subject: str = "",
        stable: str = "",
        related: tuple[int, ...] = (),
        effects: dict[str, VersionEffect] | None = None,
        level: Level | None = None,
    ) -> None:
        """Record a breach of `rule` at `event`.

        `when`: the variant of the rule; `subject`: what it is about; `stable`: the part of it that is the same in each
        run; `related`: seqs of the events that explain it; `effects`, `level`: where not simply the rule's.
        """
        if any(rule in role.ignored for role in self._roles):
            return
        effects = self.rulebook.effects(rule, when) if effects is None else effects
        if self._only is not None:
            effects = {v: e if self._dialects[v] in self._only else HARMLESS for v, e in effects.items()}
        if self._forgiving and event.channel == "out" and self.state.said and rule != "heartbeat-timeout":
            effects = self._forgiven(effects, event, rule)
        finding = Finding(
            rule=rule,
            level=level or self.rulebook.rules[rule].level,
            seq=event.seq,
            offset=event.offset,
            message=bounded(message, LONGEST_MESSAGE),
            subject=bounded(subject, LONGEST_SUBJECT),
            related=related,
            fates={version: effect.fate for version, effect in effects.items()},
            errors={version: _filled(e.error, subject) for version, e in effects.items() if e.error},
            fingerprint=fingerprint(rule, when, stable),
        )
        if all(role.shows(rule) for role in self._roles):
            self._found.append(finding)
        if self._is_read(event):
            self._outlooks.add(finding)
        elif len(self.state.later) < REMEMBERED:
            self.state.later.append(Later(event.seq, rule, finding.fates))

    def foresee(self, rule: str, event: Event, when: str) -> None:
        """Note what other versions would do about what is right on the one played: no finding, only their outlook."""
        fates = {version: effect.fate for version, effect in self.rulebook.effects(rule, when).items()}
        self._outlooks.note(fates, event.seq, rule)

    def _is_read(self, event: Event) -> bool:
        """True unless it is what a spout says while Storm waits for nothing, and reads nothing."""
        state = self.state
        return event.channel != "out" or self.profile.kind == "bolt" or state.reading > 0 or not state.said

    def effects_by_conf(
        self, hazard: str, values: Sequence[Json], effects: dict[str, VersionEffect]
    ) -> dict[str, VersionEffect]:
        """The effects of values that can't be serialized, as conf has it; `effects` if it says nothing of that."""
        return effects_with(self.profile.conf, hazard, values, effects, self._dialects)

    def passed_over(self, found: Sequence[Finding]) -> frozenset[int]:
        """The messages among `found`, by seq, of which the Storm that is played reports an error, and does no more."""
        version = self.version.id
        if version not in self._forgiving:
            return frozenset()
        return frozenset(
            finding.seq
            for finding in found
            if finding.rule != "heartbeat-timeout"
            and throws(finding.rule, finding.fates[version], finding.errors.get(version, ""))
        )

    def _forgiven(self, effects: dict[str, VersionEffect], event: Event, rule: str) -> dict[str, VersionEffect]:
        """The effects in local mode: some versions report an error, and only the next tuple ends the worker."""
        deadly = {version for version in self._forgiving if throws(rule, effects[version].fate, effects[version].error)}
        if not deadly:
            return effects
        fatal: dict[str, Fate] = dict.fromkeys(deadly, "dies")
        self.state.later.append(Later(event.seq, rule, fatal))
        return {
            v: VersionEffect("loses-data" if _means_something(event.body, self._dialects[v]) else "survives", e.error)
            if v in deadly
            else e
            for v, e in effects.items()
        }

    def catch_up(self) -> None:
        """Storm looks again: what it had not noticed counts now, as far as a sync that a spout sent unasked."""
        state = self.state
        while state.later:
            later = state.later.pop(0)
            if not later.rule:
                state.reading -= 1
                del state.unread[: bisect_right(state.unread, later.seq)]
                del state.unread_logs[: bisect_right(state.unread_logs, later.seq)]
                return
            self._outlooks.note(later.fates, later.seq, later.rule)
        state.unread.clear()
        state.unread_logs.clear()

    @property
    def expecting_pid(self) -> bool:
        """True until the component's first message: it is read differently."""
        return not self.state.said

    def outlook(self) -> tuple[Outlook, ...]:
        """The end of the conversation on each version, as far as it has come."""
        return self._outlooks.all()

    @property
    def fate(self) -> Fate:
        """The end of the conversation on the version that is played, as far as it has come."""
        return self._outlooks.fate(self.version.id)


def _arities(profile: Profile) -> dict[str, int]:
    """The number of values that a plain emit must have on each stream where nothing else can be wrong with it."""
    streams = profile.streams or {}
    return {name: len(spec.fields) for name, spec in streams.items() if spec.fields is not None and not spec.direct}


def storm_timeout(conf: Mapping[str, Any], version: StormVersion) -> float:
    """Seconds of silence after which this Storm gives a component up; its default where conf does not say."""
    setting: Any = conf.get(version.timeout_key)
    number = isinstance(setting, int | float) and not isinstance(setting, bool) and setting > 0
    return float(setting) if number else DEFAULT_TIMEOUT


def _means_something(body: Any, dialect: str) -> bool:
    """True if Storm was to act on a message: on any but a sync, or on an emit that its parser alone makes of it."""
    if isinstance(body, Malformed):
        reading = body.by_dialect.get(dialect)
        if body.kind == "tuple-missing" or (reading is not None and reading.error is None and is_emit(reading)):
            return True
    meant = body.salvage if isinstance(body, Malformed) else (body,)
    return any(not isinstance(message, Sync) for message in meant)


def _filled(error: str, subject: str) -> str:
    return bounded(error.replace("{id}", subject).replace("{name}", subject), LONGEST_MESSAGE)
