"""Facts of conversations and files as wholes, asked for once: they are few, so the driver has them."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.columns import Table, TableColumn
from multilang_cli.audit.store.local_rows import local_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

TIMED_EVENTS = "(ch in ('in', 'out', 'process') or kind = 'gap')"
"""Events that tell how long a conversation was heard."""
_KEPT_CHANNELS = pa.array(["in", "out", "process"])
_RARE = pa.array(["exited", "stdout-closed", "gap"])
_LARGEST_INTEGER = 2**63 - 1
SPANS = Table(
    "spans",
    "One row for each file and conversation: its events, counted.",
    (
        TableColumn("file", "string", "the file"),
        TableColumn("conv", "string", "the conversation"),
        TableColumn("number", "bigint", "its events in that file"),
        TableColumn("t", "double", "the time of the last"),
        TableColumn("first", "double", "of those that it was heard by, the first; null if there is none"),
        TableColumn("last", "double", "the last of these"),
        TableColumn("exited", "boolean", "its process ended"),
        TableColumn("over", "double", "when its process ended, or closed its stdout; null if neither"),
        TableColumn("why", "string", "what was said of its end; null for nothing"),
        TableColumn("gap", "bigint", "the last event that says that something is missing; null for none"),
        TableColumn("least", "bigint", "the smallest number of an event"),
        TableColumn("most", "bigint", "the largest"),
        TableColumn("total", "bigint", "their sum; null if it is too large"),
        TableColumn("xor", "bigint", "their XOR"),
    ),
)
"""What a run keeps of events for those that come after it."""
_SCHEMA = arrow_schema(SPANS.columns)
_NAMES = _SCHEMA.names
_PEOPLE = (
    "conv string, storm string, run string, topology string, component string, task int, kind string,"
    " started double, timeout double, worker string, speaker int, first boolean"
)
_ENDS = (
    "conv string, n int, kind string, started double, timeout double, last_t double, gap_at bigint, exited boolean"
)  # fmt: skip


class HeardPart(NamedTuple):
    """A row of the table conversations, less its header. `closed`: it has its end, and no fewer events than that tells.

    `counted`: the events that its end tells of.
    """

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
    counted: int | None = None


class Span(NamedTuple):
    """The events of a conversation, counted. `t`: the last of all; `first`, `last`: of those that it was heard by.

    `over`: when its process ended, or closed its stdout; `exited`: it ended; `why`: what was said of that. `gap`: the
    last. Of numbers `least` to `xor`.
    """

    number: int
    t: float
    first: float | None
    last: float | None
    exited: bool
    over: float | None
    why: str | None
    gap: int | None
    least: int
    most: int
    total: int | None
    xor: int

    @property
    def missing(self) -> int:
        """Events that are not there, by their numbers."""
        return max(0, self.most + 1 - min(self.least, 1) - self.number)

    @property
    def gap_at(self) -> int | None:
        """The last event before which something is missing; where numbers tell it, nobody knows before which.

        What came before the first is not in these recordings, and hides nothing that came later.
        """
        return self.most if self.number <= self.most - self.least else self.gap

    def beside(self, other: Span) -> Span:
        """Both together: a conversation may stand in several files."""
        total = None if self.total is None or other.total is None else self.total + other.total
        return Span(
            number=self.number + other.number,
            t=max(self.t, other.t),
            first=_of(min, self.first, other.first),
            last=_of(max, self.last, other.last),
            exited=self.exited or other.exited,
            over=_of(min, self.over, other.over),
            why=_of(max, self.why, other.why),
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

    def people(self, spark: SparkSession, runs: Mapping[str, str] | None = None) -> DataFrame:
        """Tasks and components that speak, one row a conversation, to be sent to each task.

        `runs`: by conversation, the run of its topology; by default that is the topology itself. `speaker`: a number
        for run, component, task, kind and worker, which other conversations may have too; `first`: of those that have
        it, the first.
        """
        named = runs or {}
        speakers: dict[tuple[Any, ...], int] = {}
        rows = []
        for conv, (one, *_) in self.parts.items():
            who = (named.get(conv, one.topology), one.topology, one.component, one.task, one.kind)
            worker = one.worker or one.host
            first = (*who, worker) not in speakers
            speaker = speakers.setdefault((*who, worker), len(speakers))
            rows.append((conv, one.storm, *who, one.started, one.timeout, worker, speaker, first))
        return F.broadcast(local_rows(spark, rows, _PEOPLE))

    def ends(self, spark: SparkSession) -> DataFrame:
        """Length of each conversation, if its process ended, its last gap, a number; to be sent to each task."""
        rows = []
        for n, (conv, parts) in enumerate(self.parts.items()):
            if span := self.spans.get(conv):
                timeout = max(part.timeout for part in parts)
                one = parts[0]
                rows.append((conv, n, one.kind, one.started, timeout, span.t, span.gap_at, span.over is not None))
        return F.broadcast(local_rows(spark, rows, _ENDS))


def facts_of(conversations: DataFrame, events: DataFrame) -> AuditFacts:
    """The facts, from the tables conversations and events."""
    return told_facts(conversations.select(*HeardPart._fields).collect(), counted_spans(events).collect())


def told_facts(parts: Iterable[Sequence[Any]], spans: Iterable[Sequence[Any]]) -> AuditFacts:
    """The facts, from rows of the tables conversations (columns as `HeardPart` has them) and spans."""
    heard: dict[str, list[HeardPart]] = {}
    for part in starmap(HeardPart, parts):
        heard.setdefault(part.conv, []).append(part)
    for each in heard.values():
        each.sort(key=lambda part: part.part)
    found: dict[str, Span] = {}
    counts: dict[str, int] = {}
    for file, conv, *numbers in spans:
        span = Span(*numbers)
        found[conv] = found[conv].beside(span) if conv in found else span
        counts[file] = counts.get(file, 0) + span.number
    for conv, of in heard.items():
        if conv in found and _lacks_its_last(of, found[conv]):
            of[-1] = of[-1]._replace(closed=False)
    return AuditFacts(heard, found, counts)


def _lacks_its_last(parts: Sequence[HeardPart], span: Span) -> bool:
    """True if the ends of the parts, which are all there, tell of more events than there are and miss by number."""
    counted = [part.counted for part in parts if part.counted is not None]
    whole = [part.part for part in parts] == [*range(1, len(counted) + 1)]
    return whole and sum(counted) > span.number + span.missing


def spans_of(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of the table spans of batches of the table events: one for each conversation in each batch of a file."""
    for batch in batches:
        convs = pc.unique(batch["conv"]).to_pylist()
        # Most batches have lines of one conversation alone.
        parts = [batch] if len(convs) == 1 else [batch.filter(pc.equal(batch["conv"], conv)) for conv in convs]
        file = batch["file"][0].as_py()
        rows = [(file, conv, *_span(part)) for conv, part in zip(convs, parts, strict=True)]
        yield pa.RecordBatch.from_pylist([dict(zip(_NAMES, row, strict=True)) for row in rows], schema=_SCHEMA)


def _span(events: pa.RecordBatch) -> Span:
    seqs, times, kinds = events["seq"], events["t"], events["kind"]
    heard = pc.or_(pc.is_in(events["ch"], _KEPT_CHANNELS), pc.equal(kinds, "gap"))
    kept = pc.min_max(times.filter(heard)).as_py()
    ends = pc.min_max(seqs).as_py()
    rare = events.select(["kind", "t", "seq", "says"]).filter(pc.is_in(kinds, _RARE)).to_pylist()
    exits = [row for row in rare if row["kind"] == "exited"]
    total = sum(seqs.to_pylist())
    return Span(
        number=len(seqs),
        t=pc.max(times).as_py(),
        first=kept["min"],
        last=kept["max"],
        exited=bool(exits),
        over=min((row["t"] for row in rare if row["kind"] != "gap"), default=None),
        why=max((row["says"] for row in exits if row["says"] is not None), default=None),
        gap=max((row["seq"] for row in rare if row["kind"] == "gap"), default=None),
        least=ends["min"],
        most=ends["max"],
        total=total if total <= _LARGEST_INTEGER else None,
        xor=int(np.bitwise_xor.reduce(seqs.to_numpy())),
    )


def counted_spans(events: DataFrame) -> DataFrame:
    """Rows of the table spans. Numbers that are all there have a known sum and a known XOR."""
    return events.groupBy("file", "conv").agg(
        F.expr("count(*) as number"),
        F.expr("max(t) as t"),
        F.expr(f"min(t) filter (where {TIMED_EVENTS}) as first"),
        F.expr(f"max(t) filter (where {TIMED_EVENTS}) as last"),
        F.expr("count_if(kind = 'exited') > 0 as exited"),
        F.expr("min(t) filter (where kind in ('exited', 'stdout-closed')) as over"),
        F.expr("max(says) filter (where kind = 'exited') as why"),
        F.expr("max(seq) filter (where kind = 'gap') as gap"),
        F.expr("min(seq) as least"),
        F.expr("max(seq) as most"),
        F.expr("try_sum(seq) as total"),
        F.expr("bit_xor(seq) as xor"),
    )
