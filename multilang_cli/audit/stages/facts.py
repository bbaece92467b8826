"""Facts of conversations and files as wholes, asked for once: they are few, so the driver has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.store.local_rows import local_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

KEPT = "(ch in ('in', 'out', 'process') or kind = 'gap')"
"""Events that tell how long a conversation was heard."""
_PEOPLE = (
    "conv string, storm string, topology string, component string, task int, kind string, started double,"
    " timeout double, worker string"
)
_ENDS = (
    "conv string, kind string, started double, timeout double, last_t double, gap_at bigint, exited boolean"
)  # fmt: skip


class HeardPart(NamedTuple):
    """A row of the table conversations, less its header."""

    conv: str
    part: int
    file: str
    storm: str
    kind: str
    component: str
    task: int
    worker: str
    host: str
    topology: str
    started: float | None
    timeout: float
    closed: bool


class Span(NamedTuple):
    """The events of a conversation, counted. `t`: the last of all; `first`, `last`: of those that it was heard by.

    `over`: its process ended, or closed its stdout; `exited`: it ended. `gap`: the last. Of numbers `least` to `xor`.
    """

    number: int
    t: float
    first: float | None
    last: float | None
    exited: bool
    over: bool
    gap: int | None
    least: int
    most: int
    total: int | None
    xor: int

    def beside(self, other: Span) -> Span:
        """Both together: a conversation may stand in several files."""
        total = None if self.total is None or other.total is None else self.total + other.total
        return Span(
            number=self.number + other.number,
            t=max(self.t, other.t),
            first=_of(min, self.first, other.first),
            last=_of(max, self.last, other.last),
            exited=self.exited or other.exited,
            over=self.over or other.over,
            gap=_of(max, self.gap, other.gap),
            least=min(self.least, other.least),
            most=max(self.most, other.most),
            total=total,
            xor=self.xor ^ other.xor,
        )


def _of(choose: Any, one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else choose(one, other)


class AuditFacts(NamedTuple):
    """`parts` by conversation, in order; `spans` of those that have events; `counts`: events of each file."""

    parts: dict[str, list[HeardPart]]
    spans: dict[str, Span]
    counts: dict[str, int]

    def only(self, wanted: Callable[[HeardPart], bool]) -> AuditFacts:
        """Facts of those conversations whose first part is wanted."""
        return self._replace(parts={conv: parts for conv, parts in self.parts.items() if wanted(parts[0])})

    def people(self, spark: SparkSession) -> DataFrame:
        """Tasks and components that speak, one row a conversation, to be sent to each task."""
        rows = [
            (conv, one.storm, one.topology, one.component, one.task, one.kind, one.started, one.timeout,
             one.worker or one.host)
            for conv, (one, *_) in self.parts.items()
        ]  # fmt: skip
        return F.broadcast(local_rows(spark, rows, _PEOPLE))

    def ends(self, spark: SparkSession) -> DataFrame:
        """Length of each conversation, if its process ended, its last gap; to be sent to each task."""
        rows = []
        for conv, parts in self.parts.items():
            if span := self.spans.get(conv):
                timeout = max(part.timeout for part in parts)
                rows.append((conv, parts[0].kind, parts[0].started, timeout, span.t, span.gap, span.over))
        return F.broadcast(local_rows(spark, rows, _ENDS))


def facts_of(conversations: DataFrame, events: DataFrame) -> AuditFacts:
    """The facts, from the tables conversations and events."""
    parts: dict[str, list[HeardPart]] = {}
    for row in conversations.select(*HeardPart._fields).collect():
        parts.setdefault(row.conv, []).append(HeardPart(*row))
    for each in parts.values():
        each.sort(key=lambda part: part.part)
    spans: dict[str, Span] = {}
    counts: dict[str, int] = {}
    for row in _spans(events).collect():
        span = Span(*row[2:])
        spans[row.conv] = spans[row.conv].beside(span) if row.conv in spans else span
        counts[row.file] = counts.get(row.file, 0) + span.number
    return AuditFacts(parts, spans, counts)


def _spans(events: DataFrame) -> DataFrame:
    """By file and conversation. Numbers that are all there have a known sum and a known XOR."""
    return events.groupBy("file", "conv").agg(
        F.expr("count(*) as number"),
        F.expr("max(t) as t"),
        F.expr(f"min(t) filter (where {KEPT}) as first"),
        F.expr(f"max(t) filter (where {KEPT}) as last"),
        F.expr("count_if(kind = 'exited') > 0 as exited"),
        F.expr("count_if(kind in ('exited', 'stdout-closed')) > 0 as over"),
        F.expr("max(seq) filter (where kind = 'gap') as gap"),
        F.expr("min(seq) as least"),
        F.expr("max(seq) as most"),
        F.expr("try_sum(seq) as total"),
        F.expr("bit_xor(seq) as xor"),
    )
