"""A run of a topology, judged: what its checkers need to know, and what they say as subjects of a result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.judge.context import storm_timeout
from multilang_cli.protocol.words.shortening import head
from multilang_cli.reports.escape import escape
from multilang_cli.reports.model import SubjectResult, Verdict
from multilang_cli.subject.source.sources import source_of, suspect_in
from multilang_cli.topology.checkers.checker import CheckResult, RunFacts
from multilang_cli.topology.model import EXPECTED, GUARANTEE, UNANCHORED
from multilang_cli.topology.tasks import MAX_SPOUT_PENDING, own_conf

if TYPE_CHECKING:
    from multilang_cli.topology.engine.setup import Setup
    from multilang_cli.topology.model import ComponentSpec

SHOWN = 60
"""Characters of a line of source that are shown."""
_EMITS = (
    r"^(?!.*\b(?:def|func|function|sub|fn)\b)"
    r""".*(?:(?<![a-zA-Z])[eE]mit\w*!?\s*[(\['"$@]|["']command["']\s*(?::|=>|,)\s*["']emit["'])"""
)
"""A call of what emits, in any language, or its message written out."""
_VERDICTS: dict[str, Verdict] = {"pass": "pass", "warn": "warn", "fail": "fail", "unknown": "untestable"}


def facts_of(setup: Setup) -> RunFacts:
    """Facts for the checkers about the topology of a run."""
    layout, topology, conf = setup.layout, setup.topology, setup.conf
    kinds = {name: component.kind for name, component in topology.components.items()}
    limits = {
        each.tasks: limit * len(each.tasks)
        for each in layout.executors
        if kinds.get(each.component) == "spout" and (limit := int(setup.setting(each.tasks[0], MAX_SPOUT_PENDING)))
    }
    keys: dict[tuple[str, str], tuple[tuple[str, tuple[int, ...]], ...]] = {}
    for subscription in topology.subscriptions:
        stream = topology.components[subscription.source].streams.get(subscription.stream)
        if subscription.grouping.type == "FIELDS" and stream is not None:
            places = tuple(stream.fields.index(field) for field in subscription.grouping.fields)
            known = keys.get((subscription.source, subscription.stream), ())
            keys[subscription.source, subscription.stream] = (*known, (subscription.target, places))
    return RunFacts(
        components=layout.components,
        workers=layout.workers,
        spouts=frozenset(task for task, name in layout.components.items() if kinds.get(name) == "spout"),
        ackers=layout.ackers,
        timeout=setup.message_timeout,
        limits=limits,
        keys=keys,
        expected=_expected(conf.get(EXPECTED), kinds),
        faults=tuple(str(each) for each in setup.faults),
        idle=setup.goal.idle,
        silences=_silences(setup),
        guarantee=str(conf.get(GUARANTEE) or ""),
        unanchored=frozenset(map(str, conf.get(UNANCHORED) or ())),
        emitting={
            each.id: place for each in topology.components.values() if (place := line_that_emits(each, setup.cwd))
        },
    )


def line_that_emits(component: ComponentSpec, cwd: Path) -> str:
    """The only line of a bolt's source that emits, as FILE:LINE: CODE; "" if there is none, or more than one."""
    if component.kind != "bolt":
        return ""
    source = source_of(component.command, Path(component.cwd or cwd), component.kind)
    place = suspect_in(source, _EMITS)
    return f"{place.file}:{place.line}: {escape(head(place.code, SHOWN))}" if place is not None else ""


def _silences(setup: Setup) -> dict[int, float]:
    components = setup.topology.components
    return {
        task: storm_timeout({**setup.conf, **own_conf(components[name], setup.version.id)}, setup.version)
        for task, name in setup.layout.components.items()
        if setup.version.heartbeats and name in components and components[name].kind == "bolt"
    }


def _expected(told: Any, kinds: dict[str, Any]) -> dict[str, list[list[Any]]]:
    if not isinstance(told, dict):
        return {}
    return {
        name: [each for each in values if isinstance(each, list)]
        for name, values in told.items()
        if name in kinds and isinstance(values, list)
    }


def subject_of(holds: CheckResult) -> SubjectResult:
    """A checker's verdict, as a subject."""
    return SubjectResult(
        id=holds.id,
        title=holds.title,
        kind=holds.about,
        level="should" if holds.verdict == "warn" else "must",
        verdict=_VERDICTS[holds.verdict],
        reason=holds.reason,
    )
