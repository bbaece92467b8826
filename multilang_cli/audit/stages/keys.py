"""The table keys: how fields groupings spread tuples over tasks, by Java's hash, and which keys move at Storm 2.6."""

from __future__ import annotations

from collections import Counter
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.columns import Table
from multilang_cli.audit.store.local_rows import FewRows
from multilang_cli.audit.tables import KEYS, RATES
from multilang_cli.protocol.storm.java_hash import values_hash
from multilang_cli.transcript.format import decode_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyspark.sql import DataFrame

    from multilang_cli.audit.stages.facts import AuditFacts, HeardPart

KEY_COUNTS = Table(
    "key_counts",
    "What the table keys is made of: the tuples of each run that have a key.",
    (RATES.columns[0], *(column for column in KEYS.columns if column.name not in {"share", "moves"})),
)
"""What is kept of a run, for those that come after it."""
_SCHEMA = arrow_schema(KEY_COUNTS.columns)
_COUNTED = tuple(column.name for column in KEY_COUNTS.columns)
_WHERE = ("topology", "component", "stream", "consumer", "key", "task", "task_since_2_6")


class Grouped(NamedTuple):
    """A fields grouping: the consumer, its tasks, and where in the values its fields stand."""

    consumer: str
    tasks: tuple[int, ...]
    at: tuple[int, ...]


Source = tuple[str, str, str]
"""A topology, a component and a stream."""


def key_counts(
    groupings: Mapping[Source, tuple[Grouped, ...]], who: DataFrame, events: DataFrame
) -> DataFrame | FewRows:
    """The table key_counts. `groupings`: Storm tells them since 0.10; `who`: people."""
    if not groupings:
        return FewRows([], KEY_COUNTS.ddl)
    speakers = who.select("conv", "run", "topology", "component")
    emitted = events.where("kind = 'emit' and task is null").select("conv", "stream", "values").join(speakers, "conv")
    counted = emitted.select("run", "topology", "component", "stream", "values").mapInArrow(
        partial(_count_batches, groupings=groupings), KEY_COUNTS.ddl
    )
    return counted.groupBy("run", *_WHERE).agg(F.sum("tuples").alias("tuples")).select(*_COUNTED)


def keys(counted: DataFrame) -> DataFrame:
    """The table keys, of the table key_counts."""
    summed = counted.groupBy(*_WHERE).agg(F.sum("tuples").alias("tuples"))
    share = "tuples / sum(tuples) over (partition by topology, component, stream, consumer) as share"
    found = summed.selectExpr("*", share, "not (task <=> task_since_2_6) as moves")
    return found.select([column.name for column in KEYS.columns])


def newest_parts(facts: AuditFacts) -> set[tuple[str, int]]:
    """The conversation and part that began last of each component of a topology: its header is asked for groupings."""
    last: dict[tuple[str, str], HeardPart] = {}
    for parts in facts.parts.values():
        for part in parts:
            known = last.setdefault((part.topology, part.component), part)
            if _began(part) > _began(known):
                last[part.topology, part.component] = part
    return {(part.conv, part.part) for part in last.values()}


def _began(part: HeardPart) -> tuple[bool, float, int]:
    return part.started is not None, part.started or 0.0, part.part


def groupings_of(headers: Iterable[bytes]) -> dict[Source, tuple[Grouped, ...]]:
    """The fields groupings that headers tell of."""
    found: dict[Source, tuple[Grouped, ...]] = {}
    for header in map(decode_header, headers):
        component = header.component or header.profile.component
        for name, stream in (header.profile.streams or {}).items():
            fields = stream.fields or ()
            mine = []
            for consumer, grouping in stream.groupings.items():
                by = grouping.get("fields") or ()
                tasks = tuple(sorted(stream.consumers.get(consumer, ())))
                if grouping.get("type") == "FIELDS" and tasks and by and all(field in fields for field in by):
                    mine.append(Grouped(consumer, tasks, tuple(fields.index(field) for field in by)))
            if mine:
                found[header.topology, component, name] = tuple(mine)
    return found


def digest(groupings: Mapping[Source, tuple[Grouped, ...]]) -> str:
    """A digest of groupings, the same for the same."""
    return blake2b(repr(sorted(groupings.items())).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def counted(rows: Iterable[tuple[Any, ...]], groupings: Mapping[Source, tuple[Grouped, ...]]) -> Counter[Any]:
    """Count tuples by key: rows of (run, topology, component, stream, values). Pure."""
    found: Counter[Any] = Counter()
    for run, topology, component, stream, values in rows:
        for grouped in groupings.get((topology, component, stream), ()):
            listed = msgspec.json.decode(values)
            if len(listed) > max(grouped.at):
                key = tuple(msgspec.json.encode(listed[at]) for at in grouped.at)
                found[run, topology, component, stream, grouped, key] += 1
    return found


def tasks_of(key: Iterable[bytes], grouped: Grouped) -> tuple[int, int]:
    """The task that a key, its values as JSON, goes to: up to Storm 2.5, and since 2.6."""
    values = [msgspec.json.decode(value) for value in key]
    before, after = (
        grouped.tasks[values_hash(values, dialect) % len(grouped.tasks)] for dialect in ("simple", "smart")
    )
    return before, after


def _count_batches(
    batches: Iterable[pa.RecordBatch], groupings: Mapping[Source, tuple[Grouped, ...]]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        found = [
            (run, topology, component, stream, grouped.consumer, f"[{b','.join(key).decode()}]", number,
             *tasks_of(key, grouped))
            for (run, topology, component, stream, grouped, key), number in counted(rows, groupings).items()
        ]  # fmt: skip
        columns = zip(*found, strict=True) if found else [[] for _ in _SCHEMA]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)
