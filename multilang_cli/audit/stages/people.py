"""Conversations as a whole, for the trees of taps: whose each is, how it went. They are few: the driver has them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.audit.runs import topology_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from multilang_cli.audit.runs import RecordedRun
    from multilang_cli.audit.stages.facts import AuditFacts, HeardPart, Span


class Person(NamedTuple):
    """A conversation. `n`: its place in the order in which they began; `first`, `last`: its events, by its own clock.

    `gap`: something in it is missing; `doubled`: an event may stand in it twice; `exited`: its process ended; `cut`:
    what came last is missing, and no later conversation of its task is known; `followed`: its task ran again in a later
    run of the topology.
    """

    conv: str
    n: int
    run: str
    role: str
    component: str
    me: int
    started: float
    timeout: float
    gap: bool
    doubled: bool
    exited: bool
    first: float | None
    last: float | None
    cut: bool = False
    followed: bool = False


class Life(NamedTuple):
    """A conversation by the clock of the spouts. `ahead`: seconds its own is; `over`: its task's life ended."""

    n: int
    run: str
    ahead: float
    last: float | None
    over: bool


def people(facts: AuditFacts) -> list[Person]:
    """All conversations that have events, in the order in which they began."""
    known = [(parts[0].started or 0.0, conv, parts) for conv, parts in facts.parts.items() if conv in facts.spans]
    known.sort()
    runs = {conv: run for run in topology_runs(facts).values() for conv in run.convs}
    latest = {(parts[0].topology, parts[0].task): n for n, (_, _, parts) in enumerate(known)}
    return [
        _person(n, parts, facts.spans[conv], runs[conv], latest=latest[parts[0].topology, parts[0].task] == n)
        for n, (_, conv, parts) in enumerate(known)
    ]


def _person(n: int, parts: list[HeardPart], span: Span, run: RecordedRun, *, latest: bool) -> Person:
    one = parts[0]
    started = one.started or 0.0
    # A file that was cut lacks what came last: who sent that to it has not lost it. A task that began again was killed.
    cut = latest and not run.followed and not parts[-1].closed and span.over is None
    first, last = (None if t is None else started + t for t in (span.first, span.last))
    return Person(
        conv=one.conv, n=n, run=run.name, role=one.kind, component=one.component, me=one.task, started=started,
        timeout=max(part.timeout for part in parts), gap=cut or span.gap_at is not None,
        doubled=doubled(span.number, (span.least, span.most), span.total, span.xor),
        exited=span.exited, first=first, last=last, cut=cut, followed=run.followed,
    )  # fmt: skip


def doubled(number: int, span: tuple[int, int], total: int | None, xor: int) -> bool:
    """True if of so many events in a span of numbers one may stand twice: of each once, sum and XOR are known."""
    least, most = span
    each = number == most - least + 1 and total == (least + most) * number // 2
    return not each or xor != _xor_to(most) ^ _xor_to(least - 1)


def _xor_to(number: int) -> int:
    """The XOR of all numbers from 0 to this one."""
    return (number, 1, number + 1, 0)[number % 4] if number >= 0 else 0


def lives(found: Iterable[Person], ahead: Mapping[str, float]) -> list[Life]:
    """Start and end of each conversation, by the spouts' clock; `ahead`: by conversation, where it is known.

    The life of a task is over where its process ended, or a later conversation of the task began, in the same run or
    in a later one.
    """
    known: list[Life] = []
    by_task: dict[tuple[str, int], list[tuple[float, int]]] = {}
    for each in found:
        by = ahead.get(each.conv, 0.0)
        over = each.exited or each.followed
        known.append(Life(each.n, each.run, by, None if each.last is None else each.last - by, over))
        if each.first is not None:
            by_task.setdefault((each.run, each.me), []).append((each.first - by, each.n))
    followed = {n for begun in by_task.values() for (_, n), _ in pairwise(sorted(begun))}
    return [life._replace(over=life.over or life.n in followed) for life in known]


def heard_until(found: Sequence[Person], known: Iterable[Life]) -> list[tuple[str, int, float]]:
    """By run and task whose recording was cut, how far it goes by the clock of the spouts."""
    both = zip(found, known, strict=True)
    return [(each.run, each.me, life.last) for each, life in both if each.cut and life.last is not None]


def run_ends(found: Sequence[Person], known: Iterable[Life]) -> list[tuple[str, float, float]]:
    """By run, how far its recordings go, and its message timeout: one that another follows has that behind it, too."""
    last: dict[str, float] = {}
    timeout: dict[str, float] = {}
    for each, life in zip(found, known, strict=True):
        if life.last is not None:
            last[life.run] = max(last.get(life.run, life.last), life.last)
            timeout[life.run] = max(timeout.get(life.run, each.timeout), each.timeout)
    followed = {each.run for each in found if each.followed}
    return [(run, end + timeout[run] if run in followed else end, timeout[run]) for run, end in last.items()]
