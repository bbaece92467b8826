"""Emissions matched with tuples by channel: all that one task emitted to another on a stream, at a time.

Texts and places go through as columns; only the hashes of values are looked at one by one.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from multilang_cli.audit.aligning import align
from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.columns import Table, TableColumn
from multilang_cli.audit.marks import CERTAIN, HIGH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SIDES = (
    TableColumn("channel", "bigint", "a hash of the run, the sender's task, the stream and the receiver's task"),
    TableColumn("got", "boolean", "false: it was emitted; true: it was received"),
    TableColumn("n", "int", "the conversation, in the order in which they began"),
    TableColumn("seq", "bigint", "the event's number there"),
    TableColumn("hash", "bigint", "of the values"),
    TableColumn("gap", "boolean", "something is missing in the conversation"),
    TableColumn("at", "double", "its wall-clock time, by its own clock"),
    TableColumn("emission", "bigint", "of an emit: its key"),
    TableColumn("target", "int", "of an emit: the task it goes to"),
    TableColumn("edge", "bigint", "of a tuple its edge; of an emit the one that it has if nobody gets it"),
    TableColumn("id", "string", "of a tuple: its id"),
)
"""Both ends of channels."""
PAIRS = Table(
    "pairs",
    "One row for each emission to a task: the tuple that it became there.",
    (
        TableColumn("emission", "bigint", "the emission's key"),
        TableColumn("sender", "int", "the conversation that emitted"),
        TableColumn("sent_at", "double", "when, by its clock"),
        TableColumn("target", "int", "the task it went to; null if nobody knows"),
        TableColumn("edge", "bigint", "the edge it made"),
        TableColumn("receiver", "int", "the conversation that got it; null if none did, as far as recorded"),
        TableColumn("got_at", "double", "when, by its clock"),
        TableColumn("id", "string", "the tuple's id there"),
        TableColumn("doubt", "int", "0 certain, 1 inferred and checked, 2 guessed"),
        TableColumn("later", "boolean", "of one that none got: true if that task got a later one"),
        TableColumn("equals", "bigint", "the same for equal ones of which some were lost; null if it is known which"),
    ),
)
_PAIRS = arrow_schema(PAIRS.columns)
_ORDER = [("got", "ascending"), ("n", "ascending"), ("seq", "ascending")]


def align_channels(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The pairs of channels, whose rows have the columns `SIDES` and stand one channel behind the other."""
    for channel in _channels(batches):
        yield from _aligned(channel).to_batches()


def _channels(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows of one channel at a time, however they were cut into batches."""
    kept: list[pa.RecordBatch] = []
    for batch in batches:
        begin = 0
        for end in pc.run_end_encode(batch["channel"]).run_ends.to_pylist():
            if kept and kept[-1]["channel"][0] != batch["channel"][begin]:
                yield pa.Table.from_batches(kept)
                kept = []
            kept.append(batch.slice(begin, end - begin))
            begin = end
    if kept:
        yield pa.Table.from_batches(kept)


def _aligned(table: pa.Table) -> pa.Table:
    rows = table.sort_by(_ORDER).combine_chunks()
    count = len(rows) - pc.sum(rows["got"]).as_py()
    sent, got = rows.slice(0, count), rows.slice(count)
    whole = not pc.any(rows["gap"]).as_py()
    places, doubts, equals = _places(sent["hash"], got["hash"], whole=whole)
    last = pc.max(pc.indices_nonzero(pc.is_valid(places))).as_py()
    to = got.take(places)
    lost = pc.is_null(to["n"])
    columns = {
        "emission": sent["emission"],
        "sender": sent["n"],
        "sent_at": sent["at"],
        "target": sent["target"],
        "edge": pc.if_else(lost, sent["edge"], to["edge"]),
        "receiver": to["n"],
        "got_at": to["at"],
        "id": to["id"],
        "doubt": doubts,
        "later": pc.and_(lost, pc.less(pa.array(np.arange(count)), -1 if last is None else last)),
        "equals": sent["edge"].take(equals),
    }
    return pa.table([columns[name] for name in _PAIRS.names], schema=_PAIRS)


def _places(sent: pa.ChunkedArray, got: pa.ChunkedArray, *, whole: bool) -> tuple[pa.Array, pa.Array, pa.Array]:
    """For each emission, given as the hash of its values, the place of the tuple that it became, and how much doubt.

    Then that of the first lost one among its equals.
    """
    count = len(sent)
    if sent.equals(got):
        # Nothing was lost: there is one way to align them, and no need for Python to look at each.
        sure = pa.array(np.full(count, CERTAIN if whole else HIGH, np.int32))
        return pa.array(np.arange(count)), sure, pa.nulls(count, pa.int64())
    aligned = align(_numbers(sent), _numbers(got), whole=whole)
    places: list[int | None] = [None] * count
    doubts = [0] * count
    for pair in aligned.pairs:
        places[pair.sent], doubts[pair.sent] = pair.got, pair.doubt
    for place, doubt in aligned.lost.items():
        doubts[place] = doubt
    # Where lines are missing, what seems to be lost may be none of these.
    equals = [aligned.equals.get(place) for place in range(count)] if whole else [None] * count
    return pa.array(places, pa.int64()), pa.array(doubts, pa.int32()), pa.array(equals, pa.int64())


def _numbers(hashes: pa.ChunkedArray) -> array[int]:
    """The same for Python to look at, in a fifth of a list's memory."""
    return array("q", hashes.to_numpy().tobytes())
