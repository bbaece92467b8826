"""Conversations as a whole, for the trees of taps: whose each is, how it went. They are few: the driver has them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.audit.runs import topology_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from multilang_cli.audit.clocks import ComparedClock
    from multilang_cli.audit.runs import RecordedRun
    from multilang_cli.audit.stages.facts import AuditFacts, HeardPart, Span


class Person(NamedTuple):
    """A conversation. `n`: its place in an order in which the lives of each task stand as they came one after another.

    `first`, `last`: its events, by its own clock; `gap`: something in it is missing; `doubled`: an event may stand in
    it twice; `exited`: its process ended; `cut`: what came last is missing, and no later conversation of its task is
    known; `followed`: its task ran again in a later run of the topology; `unordered`: its place among the lives of its
    task is what its clock says, and nothing else.
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
    unordered: bool = False


class Life(NamedTuple):
    """A conversation by the clock of the spouts. `ahead`: seconds its own is; `over`: its task's life ended.

    `torn`: some of what its task said or was told is missing, or nobody knows in which order it was.
    """

    n: int
    run: str
    ahead: float
    last: float | None
    over: bool
    torn: bool = False


def people(facts: AuditFacts, clocks: Mapping[str, ComparedClock] | None = None) -> list[Person]:
    """All conversations that have events, in the order in which they were.

    `clocks`: what is known of them from elsewhere, as a clock that is set back puts a life before the one it followed;
    None to trust all.
    """
    known = [
        (_middle(parts[0], facts.spans[conv], clocks.get(conv) if clocks else None), conv, parts)
        for conv, parts in facts.parts.items()
        if conv in facts.spans
    ]
    known.sort()
    runs = {conv: run for run in topology_runs(facts).values() for conv in run.convs}
    task_of = {conv: (runs[conv].name, parts[0].task) for _, conv, parts in known}
    latest = {task_of[conv]: conv for _, conv, _ in known}
    unordered = set() if clocks is None else _unordered(task_of, clocks)
    return [
        _person(
            n, parts, facts.spans[conv], runs[conv], latest=latest[task_of[conv]] == conv, unordered=conv in unordered
        )
        for n, (_, conv, parts) in enumerate(known)
    ]


def several_lives(found: Iterable[Person]) -> bool:
    """True if a task has more than one conversation."""
    return any(number > 1 for number in Counter((each.run, each.me) for each in found).values())


def _middle(one: HeardPart, span: Span, clock: ComparedClock | None) -> float:
    """The middle of a life: those of one task are farthest apart there, however little is known of their clocks."""
    heard = 0.0 if span.first is None or span.last is None else (span.first + span.last) / 2
    return (one.started or 0.0) + heard - (clock.ahead if clock else 0.0)


def _unordered(task_of: Mapping[str, tuple[str, int]], clocks: Mapping[str, ComparedClock]) -> set[str]:
    """The lives of which nothing but their own clocks tells which was first. `task_of`: the run and task of each."""
    by_task: dict[tuple[str, int], list[str]] = {}
    for conv, task in task_of.items():
        by_task.setdefault(task, []).append(conv)
    found: set[str] = set()
    for convs in by_task.values():
        groups = {clocks[conv].group for conv in convs if conv in clocks}
        if len(convs) > 1:
            found.update(conv for conv in convs if conv not in clocks or len(groups) > 1)
    return found


def _person(n: int, parts: list[HeardPart], span: Span, run: RecordedRun, *, latest: bool, unordered: bool) -> Person:
    one = parts[0]
    started = one.started or 0.0
    # A file that was cut lacks what came last: who sent that to it has not lost it. A task that began again was killed.
    cut = latest and not run.followed and not parts[-1].closed and span.over is None
    first, last = (None if t is None else started + t for t in (span.first, span.last))
    return Person(
        conv=one.conv, n=n, run=run.name, role=one.kind, component=one.component, me=one.task, started=started,
        timeout=max(part.timeout for part in parts), gap=cut or span.gap_at is not None,
        doubled=doubled(span.number, (span.least, span.most), span.total, span.xor),
        exited=span.exited, first=first, last=last, cut=cut, followed=run.followed, unordered=unordered,
    )  # fmt: skip


def doubled(number: int, span: tuple[int, int], total: int | None, xor: int) -> bool:
    """True if of so many events in a span of numbers one may stand twice: of each once, sum and XOR are known."""
    least, most = span
    each = number == most - least + 1 and total == (least + most) * number // 2
    return not each or xor != _xor_to(most) ^ _xor_to(least - 1)


def _xor_to(number: int) -> int:
    return (number, 1, number + 1, 0)[number % 4] if number >= 0 else 0


def lives(found: Sequence[Person], ahead: Mapping[str, float]) -> list[Life]:
    """Start and end of each conversation, by the spouts' clock; `ahead`: by conversation, where it is known.

    The life of a task is over where its process ended, or a later conversation of the task was heard, in the same run
    or in a later one.
    """
    known: list[Life] = []
    latest = {(each.run, each.me): each.n for each in found if each.first is not None}
    torn = {(each.run, each.me) for each in found if each.gap or each.unordered}
    for each in found:
        by = ahead.get(each.conv, 0.0)
        began_again = each.first is not None and each.n < latest[each.run, each.me]
        last = None if each.last is None else each.last - by
        over = each.exited or each.followed or began_again
        known.append(Life(each.n, each.run, by, last, over, (each.run, each.me) in torn))
    return known


class TornTask(NamedTuple):
    """A task of which something is missing. `heard`: of a recording that was cut how far it goes, by spouts' clock."""

    run: str
    me: int
    heard: float | None


def torn_tasks(found: Sequence[Person], known: Iterable[Life]) -> list[TornTask]:
    """The tasks of which something is missing, each once."""
    torn: dict[tuple[str, int], float | None] = {}
    for each, life in zip(found, known, strict=True):
        if life.torn:
            torn[each.run, each.me] = life.last if each.cut else torn.get((each.run, each.me))
    return [TornTask(*task, heard) for task, heard in torn.items()]


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
