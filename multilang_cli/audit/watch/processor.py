"""Spark's side of a watch: the state of each run in Spark's state store, what was heard in, what was found out.

A value holds the run itself, a map its open roots, so that a batch reads and writes the roots that it is about. All
else is in ``following``.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.tables import MARKS, ROOTS
from multilang_cli.audit.watch.alerts import Alert
from multilang_cli.audit.watch.following import Found, RunFollower, RunState
from multilang_cli.audit.watch.heard import PLACE, heard, in_order
from multilang_cli.audit.watch.ledger import RootRow, RootState
from multilang_cli.transcript.given import NO_SECRETS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.stateful_processor import (
        ExpiredTimerInfo,
        MapState,
        StatefulProcessorHandle,
        TimerValues,
    )

    from multilang_cli.audit.watch.following import Rules
    from multilang_cli.transcript.given import GivenSecrets

ALERT, ROOT, LATE = "alert", "root", "late"
FOUND = "kind string, row binary"
_BLOB = "b binary"
_encode = msgspec.msgpack.Encoder().encode
_decode_run = msgspec.msgpack.Decoder(RunState).decode
_decode_root = msgspec.msgpack.Decoder(RootState).decode
_TABLES = {ROOT: ROOTS, LATE: MARKS}


class StoredRoots(MutableMapping[int, RootState]):
    """The open roots of a run, in a map of Spark's state. What was read or changed is written by `save`."""

    def __init__(self, stored: MapState) -> None:
        self._stored = stored
        self._known: dict[int, RootState | None] = {}
        self._gone: set[int] = set()

    def __getitem__(self, root: int) -> RootState:
        """Read it once."""
        if root not in self._known:
            found = self._stored.getValue((root,))
            self._known[root] = None if found is None else _decode_root(bytes(found[0]))
        state = self._known[root]
        if state is None:
            raise KeyError(root)
        return state

    def __setitem__(self, root: int, state: RootState) -> None:
        """Hold it until it is saved."""
        self._known[root] = state
        self._gone.discard(root)

    def __delitem__(self, root: int) -> None:
        self._known[root] = None
        self._gone.add(root)

    def __iter__(self) -> Iterator[int]:
        stored = {root for (root,) in self._stored.keys()}  # noqa: SIM118 (it is no dict)
        yield from (stored - self._gone) | {root for root, state in self._known.items() if state}

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def save(self) -> None:
        """Write what there is to write."""
        for root, state in self._known.items():
            if state is not None:
                self._stored.updateValue((root,), (_encode(state),))
        for root in self._gone:
            self._stored.removeKey((root,))


class RunProcessor(StatefulProcessor):
    """Follows each run. `timers`: wall time may run on; else a timer waits for a watch that lets it."""

    def __init__(self, rules: Rules, *, timers: bool) -> None:
        self._rules = rules
        self._timers = timers

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state."""
        self._handle = handle
        self._run = handle.getValueState("run", _BLOB)
        self._roots = handle.getMapState("roots", "root bigint", _BLOB)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Any]:  # noqa: N802, N803 (Spark's)
        """Take what was heard of a run."""
        marks = in_order({name: frame[name].tolist() for name in (*PLACE, "mark")} for frame in rows)
        wall = timerValues.getCurrentProcessingTimeInMs() / 1000
        yield from self._follow(key[0], lambda follower: follower.hear(marks, wall))

    def handleExpiredTimer(  # noqa: N802 (Spark's)
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803 (Spark's)
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: ARG002, N803 (Spark's)
    ) -> Iterator[Any]:
        """Let wall time run on."""
        now = timerValues.getCurrentProcessingTimeInMs()
        if not self._timers:
            self._handle.registerTimer(now + 1)
            return
        yield from self._follow(key[0], lambda follower: follower.run_on(now / 1000))

    def _follow(self, run: str, look: Any) -> Iterator[Any]:
        stored = self._run.get()
        state = RunState() if stored is None else _decode_run(bytes(stored[0]))
        roots = StoredRoots(self._roots)
        follower = RunFollower(run, state, roots, self._rules)
        found = list(look(follower))
        roots.save()
        self._run.update((_encode(state),))
        self._set_timer(follower.next_look())
        if found:
            yield _frame(found)

    def _set_timer(self, at: float | None) -> None:
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        if at is not None:
            self._handle.registerTimer(ceil(at * 1000))


def follow_lines(lines: DataFrame, rules: Rules, *, timers: bool, secrets: GivenSecrets = NO_SECRETS) -> DataFrame:
    """Everything that is found in lines, less `secrets`, as `FOUND`; its state is Spark's."""
    processor = RunProcessor(rules, timers=timers)
    return heard(lines, secrets).groupBy("run").transformWithStateInPandas(processor, FOUND, "Append", "ProcessingTime")


def alerts_in(found: DataFrame) -> list[Alert]:
    """The alerts, in an order of their own."""
    rows = found.where(f"kind = '{ALERT}'").select("row").collect()
    alerts = [msgspec.msgpack.decode(bytes(row[0]), type=Alert) for row in rows]
    return sorted(alerts, key=lambda alert: (alert.run, alert.root is not None, alert.root or 0, alert.verdict))


def table_in(found: DataFrame, kind: str) -> DataFrame:
    """The rows of one kind as the table that they are of."""
    table = _TABLES[kind]
    return found.where(f"kind = '{kind}'").select("row").mapInArrow(partial(_unpacked, kind), table.ddl)


def _unpacked(kind: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    schema = arrow_schema(_TABLES[kind].columns)
    for batch in batches:
        rows = [msgspec.msgpack.decode(row) for row in batch.column(0).to_pylist()]
        columns: list[Any] = list(zip(*rows, strict=True)) or [[] for _ in schema]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _frame(found: list[Found]) -> Any:
    import pandas as pd  # type: ignore[import-untyped]  # noqa: PLC0415 (slow to import, and only tasks need it)

    rows = [_row(each) for each in found]
    return pd.DataFrame({"kind": [kind for kind, _ in rows], "row": [row for _, row in rows]})


def _row(found: Found) -> tuple[str, bytes]:
    match found:
        case Alert():
            return ALERT, _encode(found)
        case RootRow():
            return ROOT, _encode(found)
        case _:
            return LATE, _encode((found.run, *found.mark))
