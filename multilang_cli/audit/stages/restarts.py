"""The table restarts: ends of processes, which are few, so the driver puts them together."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.audit.store.local_rows import FewRows
from multilang_cli.audit.tables import RESTARTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from multilang_cli.audit.stages.facts import AuditFacts

ENDS_TOGETHER = 10.0
"""Seconds between two ends of processes of a worker that belong together."""


class _End(NamedTuple):
    topology: str
    worker: str
    at: float | None
    task: int
    component: str
    why: str | None
    lost: int


def restarts(facts: AuditFacts, lost: Mapping[str, int]) -> FewRows:
    """Ends of processes of a worker, those together that come within seconds. `lost`: tuples, by conversation."""
    ends = sorted(_ends(facts, lost), key=lambda end: (end.topology, end.worker, end.at is not None, end.at or 0.0))
    workers = groupby(ends, lambda end: (end.topology, end.worker))
    return FewRows([_row(each) for _, mine in workers for each in _episodes(mine)], RESTARTS.ddl)


def _ends(facts: AuditFacts, lost: Mapping[str, int]) -> Iterator[_End]:
    for conv, (one, *_) in facts.parts.items():
        span = facts.spans.get(conv)
        if span is not None and span.over is not None:
            at = None if one.started is None else one.started + span.over
            worker = one.worker or one.host
            yield _End(one.topology, worker, at, one.task, one.component, span.why, lost.get(conv, 0))


def _episodes(ends: Iterable[_End]) -> Iterator[list[_End]]:
    """Ends of one worker, by time; one of which nobody knows when it was stands alone."""
    found: list[_End] = []
    for end in ends:
        if found and (found[-1].at is None or end.at is None or end.at - found[-1].at > ENDS_TOGETHER):
            yield found
            found = []
        found.append(end)
    if found:
        yield found


def _row(ends: list[_End]) -> tuple[object, ...]:
    first, last = ends[0], ends[-1]
    tasks, components = sorted({end.task for end in ends}), sorted({end.component for end in ends})
    why = next((end.why for end in ends if end.at is not None and end.at == first.at), None)
    lost = sum(end.lost for end in ends)
    return first.topology, first.worker, first.at, last.at, len(ends), tasks, components, why, lost
