"""Tuples near the declared ones, with a value that is empty, spoiled, null or long: those that a bolt can't take."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.driver.memory import TooMuchMemoryError, ceiling
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.protocol.words.shortening import shown
from multilang_cli.reports.counting import counted
from multilang_cli.reports.model import Observation
from multilang_cli.subject.samples import has_samples, samples_of, sources_of
from multilang_cli.subject.source.sources import lines_of, source_of
from multilang_cli.suite.probing.asking import started
from multilang_cli.suite.probing.taken import LOOKED_FOR
from multilang_cli.suite.runner.watch import Watch
from multilang_cli.suite.steps.settling import FedTuples
from multilang_cli.suite.steps.ticks import takes_ticks
from multilang_cli.suite.verdict.causes import hear_out, met_by_the_probe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from multilang_cli.protocol.wire.context import Sample
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.reports.model import RunResult, SubjectResult
    from multilang_cli.subject.subject import Subject

SETTLED_WITHIN = 3.0
"""Seconds in which it says nothing: what still works on a tuple then is slow."""
AFTER_A_FAIL = 0.2
"""Seconds in which it may emit what its own fail overtook."""
GIVEN_UP = 5.0
"""Seconds after which a tuple is given up of which it still says something."""
VARIED = 3
"""Samples that are varied, the first."""
LONG_TEXT = 300_000
"""Characters of a long text: more than the pipes to and from a child process take."""
_LONG_ID, _LONG_TITLE = "long-text", f"takes a text of {LONG_TEXT:,} characters"
_LEFT_OPEN = "tuple-unsettled"
_WRITTEN_OUT = 60
"""Characters of the values that are written as an option."""
_WORDS = re.compile(r"[^\W\d_][\w\s.,;:!?'-]*")
"""A text that is none of a number, a date, an address or a document: those may be asked for."""
_NUMBER = re.compile(r"\s*[-+]?\d+(?:[.,]\d+)?\s*[^\W\d_]*")
"""A text that is read as a number, maybe with a unit: where none was measured, programs write nan."""
_NOT_TAKEN = Observation(
    "made-up-tuple-not-taken",
    "fed {values}, made up{near}, {headline}{where}; if such a tuple can come, {how} shows it whole{more}",
)
_ALL_TAKEN = (
    "also fed {count} made up from its samples, a value of each empty, spoiled, null or long: nothing went wrong"
)
_AT_A_TICK = Observation(
    "tick-not-taken",
    "fed a tick, of which its source tells, {headline}{where}; if ticks come to it, --accepts ticks shows it whole",
)
_TICK = re.compile(r"(?i:(?:\b|_)ticks?(?:\b|_))|Tick(?![a-z])")
"""A tick tuple, as a program names it."""


def _empty(value: Json) -> Json:
    return type(value)() if value and not isinstance(value, bool) else value


def _quoted(value: Json) -> Json:
    return f'{value} "a" \\ b\n' if isinstance(value, str) and _WORDS.fullmatch(value) else value


def _spoiled(value: Json) -> Json:
    if isinstance(value, list) and value:
        return [*value[:-1], _empty(value[-1])]
    if isinstance(value, dict) and value:
        last = [*value][-1]
        return {**value, last: _empty(value[last])}
    return "nan" if isinstance(value, str) and _NUMBER.fullmatch(value) else value


def _long(value: Json) -> Json:
    if not (isinstance(value, str) and _WORDS.fullmatch(value)):
        return value
    # A sentence in one word: of as many words a bolt may emit as many tuples.
    text, more = ("", value) if "\n" in value else (f"{value} ", max(value.split(), key=len))
    return (text + more * (LONG_TEXT // len(more) + 1))[:LONG_TEXT]


_VARIATIONS: tuple[Callable[[Json], Json], ...] = (_empty, _quoted, _spoiled, lambda _: None, _long)


def varied(samples: Iterable[Sample]) -> Iterator[Sample]:
    """The samples with one value of another kind, for each place; those that differ the least come first."""
    told = [*samples][:VARIED]
    met = [each.values for each in told]
    for vary in _VARIATIONS:
        for sample in told:
            for place, value in enumerate(sample.values):
                values = [*sample.values[:place], vary(value), *sample.values[place + 1 :]]
                if values not in met:
                    met.append(values)
                    yield msgspec.structs.replace(sample, values=values)


class NearSamples(NamedTuple):
    """A bolt fed with tuples near its samples. `fed`: how many; `wrong`: the first that it can't take.

    Nobody said that they come, so that is no failure. `lost`: what is seen of a long text whose tuple it never settles:
    who does not want one would fail it.
    """

    fed: int
    wrong: Observation | None = None
    lost: SubjectResult | None = None

    def noted(self, result: RunResult) -> RunResult:
        """The result of a run with a note on this: first what goes wrong, last that nothing does."""
        if self.wrong is not None:
            return result.observing(self.wrong)
        all_taken = (_ALL_TAKEN.format(count=counted(self.fed, "tuple")),) if self.fed else ()
        return msgspec.structs.replace(result, notes=(*result.notes, *all_taken))


def fed_near_samples(checked: Subject) -> NearSamples:
    """Feed such tuples, each to a process of its own. Raises LaunchError if it can't be started."""
    samples, declared = samples_of(checked.component), has_samples(checked.component)
    if len(sources_of(checked.component)) > 1 or _met(checked, samples[0]) is not None:
        return NearSamples(0)
    if _awaits_ticks(checked) and (met := _met(checked, samples[0], tick=True)) is not None:
        return NearSamples(0, _AT_A_TICK.told(headline=_headline(met), where=_where(met)))
    until = time.monotonic() + LOOKED_FOR
    fed, wrong, lost = 0, [], None
    for sample in varied(samples):
        if time.monotonic() > until:
            break
        fed += 1
        if (met := _met(checked, sample)) is None:
            continue
        if _is_long(sample) and {each.rule for each in met.findings} == {_LEFT_OPEN}:
            lost = msgspec.structs.replace(met, id=_LONG_ID, title=_LONG_TITLE, verdict="warn")
        else:
            wrong.append((sample, met))
    told = _told(*wrong[0], len(wrong) - 1, near=" from a sample" if declared else "") if wrong else None
    return NearSamples(fed if declared else 0, told, lost)


def _is_long(sample: Sample) -> bool:
    return any(isinstance(value, str) and len(value) >= LONG_TEXT for value in sample.values)


def _awaits_ticks(checked: Subject) -> bool:
    """True if its source tells of ticks, and nobody declared that they come."""
    sources = lines_of(source_of(checked.launch.argv, checked.cwd, "bolt"))
    return not takes_ticks(checked.component) and any(
        _TICK.search(line) for lines in sources.values() for line in lines
    )


def _met(checked: Subject, sample: Sample, *, tick: bool = False) -> SubjectResult | None:
    """The result of feeding it this one alone, with a `tick` behind it or without, if that went wrong."""
    component = msgspec.structs.replace(checked.component, samples=(sample,))
    fed, watch, tuples = msgspec.structs.replace(checked, component=component), Watch(), FedTuples()
    with started(fed, "bolt", (watch, tuples)) as (bolt, said_pid):
        session = bolt.session
        if not said_pid:
            return None
        assert isinstance(bolt, ShellBolt)  # noqa: S101 (what a bolt is started with)
        session.pump.memory = ceiling(checked.options.memory)
        bolt.send(sample.values, sample.component, sample.stream)
        if tick:
            bolt.tick()
        until = session.now + GIVEN_UP
        is_open = bolt.judge.state.open
        done = lambda: (session.idle and not is_open) or session.now > until  # noqa: E731 (a condition)
        try:
            settled = session.wait(done, SETTLED_WITHIN, "settle", lambda: session.pump.spoken)
            if tuples.failed:
                session.wait(lambda: False, AFTER_A_FAIL, "output", quietly=True)
        except TooMuchMemoryError:
            return None
        if not settled and session.working:
            return None
        if settled and not any(finding.level == "must" for finding in session.findings):
            return None
        last = hear_out(session, source_of(fed.launch.argv, fed.cwd, "bolt"))
        return met_by_the_probe(fed, session, watch, last)


def _headline(met: SubjectResult) -> str:
    return met.causes[0].headline if met.causes else met.findings[0].message


def _where(met: SubjectResult) -> str:
    place = met.causes[0].place or met.causes[0].suspect if met.causes else None
    return f" ({place.file}:{place.line})" if place else ""


def _told(sample: Sample, met: SubjectResult, more: int, *, near: str) -> Observation:
    written = json.dumps(sample.values, ensure_ascii=False)
    return _NOT_TAKEN.told(
        values=shown(sample.values),
        near=near,
        headline=_headline(met),
        where=_where(met),
        how=f"--tuple '{written}'" if len(written) <= _WRITTEN_OUT and "'" not in written else "--tuples FILE",
        more=f" ({counted(more, 'more tuple')} made up so went wrong)" if more else "",
    )
