"""Asks a Storm version what it does with the recorded scripts, and compares (``mlcheck verify-storm``)."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.locate import data_path
from multilang_cli.catalogue.oracle import (
    CASE_FILES,
    VERDICT_FILES,
    Verdict,
    meant_calls,
    oracle_cases,
    oracle_verdicts,
    recorded_events,
    rules_of_scripts,
)
from multilang_cli.verify.comparing import VerdictDifference, difference
from multilang_cli.verify.oracle_program import ask, parsed
from multilang_cli.verify.records import render, updated, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multilang_cli.catalogue.oracle import Case
    from multilang_cli.protocol.words.verdicts import StormVersion
    from multilang_cli.verify.records import Verdicts

EACH = 10
"""Of so many scripts on which the versions agree, one is in a sample."""


class Verification(msgspec.Struct, frozen=True):
    """Result of a verification. `base`: the recorded version that `storm` was compared with, itself if it is recorded.

    `verdicts`: what Storm did now, by script. `wavering`: scripts that differed once, and not when asked again.
    """

    storm: str
    base: str
    verdicts: dict[str, Verdict]
    differences: tuple[VerdictDifference, ...]
    wavering: tuple[str, ...]


def verify(storm: str, cases: list[Case], jobs: int = 1, tell: Callable[[str], None] | None = None) -> Verification:
    """Play `cases` to Storm `storm` and compare. Raises OracleError, see `oracle_program.ask`."""
    return compare(storm, cases, lambda some: ask(storm, some, jobs, tell))


def compare(storm: str, cases: list[Case], asking: Callable[[list[Case]], dict[str, Verdict]]) -> Verification:
    """Compare what `asking` says of `cases` with what is recorded; where it differs, what it says when asked again."""
    base = nearest(storm, recorded_versions())
    verdicts = asking(cases)
    first = {each.case for each in _differences(storm, base, cases, verdicts)}
    again = [case for case in cases if case["case"] in first]
    verdicts |= asking(again) if again else {}
    found = _differences(storm, base, again, verdicts)
    wavering = first - {each.case for each in found}
    return Verification(storm, base, verdicts, tuple(found), tuple(sorted(wavering)))


def _differences(storm: str, base: str, cases: Iterable[Case], verdicts: dict[str, Verdict]) -> list[VerdictDifference]:
    traits, rules = traits_of(storm), rules_of_scripts()
    found = [
        difference(case, partial(meant_calls, case, traits), verdicts[name], before[base], rules.get(name, ()))
        for case in cases
        for name, before in [(case["case"], oracle_verdicts().get(case["case"]))]
        if before is not None
    ]
    return [each for each in found if each is not None]


def recorded_versions() -> list[str]:
    """The versions that were asked about every script, the oldest first."""
    every = set.intersection(*(set(by_version) for by_version in oracle_verdicts().values()))
    return sorted(every, key=parsed)


def nearest(storm: str, versions: Iterable[str]) -> str:
    """Of `versions` the newest that is not newer than `storm`, else the oldest; of those that have its traits, if any.

    2.6.4 is nearer to 2.8.3, which reads JSON as it does, than to 2.5.0. Raises UnavailableError, ValueError.
    """
    every = sorted(versions, key=parsed)
    alike = [version for version in every if _same_traits(storm, version)]
    known = [version for version in alike if parsed(version)[0] == parsed(storm)[0]] or alike or every
    below = [version for version in known if parsed(version) <= parsed(storm)]
    return storm if storm in every else max(below, key=parsed, default=min(known, key=parsed))


def _same_traits(storm: str, other: str) -> bool:
    plain = [msgspec.structs.replace(traits_of(name), id="", verified=False, note="") for name in (storm, other)]
    return plain[0] == plain[1]


def traits_of(storm: str) -> StormVersion:
    """Facts about a version; of one newer than all, those of the newest."""
    book = load_rulebook(storm)
    try:
        return book.version(storm)
    except KeyError:
        return book.newest


def sample(storm: str) -> list[Case]:
    """The scripts on which the version compared with does something else than the one recorded before or after it.

    And every tenth of the others.
    """
    versions = recorded_versions()
    place = versions.index(nearest(storm, versions))
    near = versions[max(place - 1, 0) : place + 2]
    return [
        case
        for number, (name, case) in enumerate(oracle_cases().items())
        if number % EACH == 0 or len({_gist(oracle_verdicts()[name][version]) for version in near}) > 1
    ]


def _gist(verdict: Verdict) -> str:
    return json.dumps([verdict["verdict"], [event["t"] for event in recorded_events(verdict)]])


def record(found: Verification) -> list[str]:
    """Record in conformance/oracle what differs and what was not recorded; the names of the files that changed.

    What agrees stays as it is, so that only changes are seen. Raises OSError.
    """
    differing = {each.case for each in found.differences}
    changed = []
    for cases, verdicts in zip(CASE_FILES, VERDICT_FILES, strict=True):
        names = {case["case"] for case in json.loads(data_path("conformance", "oracle", cases).read_bytes())}
        path = data_path("conformance", "oracle", verdicts)
        old: Verdicts = json.loads(path.read_bytes())
        new = {
            name: {found.storm: verdict}
            for name, verdict in found.verdicts.items()
            if name in names and (name in differing or found.storm not in old.get(name, {}))
        }
        if new:
            write_whole(path, render(updated(old, new)))
            changed.append(verdicts)
    return changed
