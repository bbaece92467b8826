"""Equal emissions of which some were lost: which of them, by what became of their trees.

Their order alone does not tell. But a tree that was acked has lost nothing; so where one is that seems to, and the tree
of an equal failed though it seems whole, it was the equal that was lost. These are few, so the driver exchanges them.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.store.local_rows import local_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame

_OF_TUPLE = {"receiver": "int", "got_at": "double", "edge": "bigint", "id": "string", "later": "boolean"}
"""Columns of the table pairs that tell which tuple an emission became, with their types."""


class EqualLeg(NamedTuple):
    """An emission that has equals, in a tree. `equals`: the same for all of them; `edge` to `id`: what it became.

    `acked`: so was every tuple of the tree, once, before the spout was told; `told`: what that was, None for nothing.
    """

    equals: int
    root: int
    emission: int
    sent_at: float
    edge: int
    receiver: int | None
    got_at: float | None
    id: str | None
    later: bool
    acked: bool
    told: str | None


class Exchange(NamedTuple):
    """An emission is given what `other` has become, and the other way round."""

    one: EqualLeg
    other: EqualLeg


def exchanges(legs: Iterable[EqualLeg]) -> list[Exchange]:
    """Emissions to be exchanged. Where more of them failed than seem to be lost, nobody knows which."""
    found: list[Exchange] = []
    for _, equals in groupby(sorted(legs, key=attrgetter("equals", "sent_at", "emission")), attrgetter("equals")):
        each = list(equals)
        # A tuple that has several roots may tell different things of each.
        if len({leg.edge for leg in each}) < len(each):
            continue
        acked = [leg for leg in each if leg.receiver is None and leg.told == "acked"]
        failed = [leg for leg in each if leg.receiver is not None and leg.acked and leg.told == "told fail"]
        if len(failed) <= len(acked):
            found += map(Exchange, failed, acked)
    return found


def exchanged(rows: DataFrame, found: Sequence[Exchange]) -> DataFrame:
    """Rows with columns of the table pairs, the tuples of these emissions exchanged."""
    new = [_became(*both) for each in found for both in (each, reversed(each))]
    columns = ", ".join(["whose bigint", "old bigint", *(f"new_{name} {kind}" for name, kind in _OF_TUPLE.items())])
    told = F.broadcast(local_rows(rows.sparkSession, new, columns))
    both = rows.join(told, F.expr("emission = whose and edge = old"), "left")
    given = {name: f"if(whose is null, {name}, new_{name}) as {name}" for name in _OF_TUPLE}
    return both.selectExpr(*(given.get(name, name) for name in rows.columns))


def _became(one: EqualLeg, other: EqualLeg) -> tuple[int | float | str | None, ...]:
    """The key of the emission `one`, and all that `other` has become."""
    later = other.receiver is None and (other.later or one.sent_at <= other.sent_at)
    return one.emission, one.edge, other.receiver, other.got_at, other.edge, other.id, later


def equal_legs(tree: DataFrame, paired: DataFrame, told: DataFrame, settles: DataFrame) -> list[EqualLeg]:
    """The legs of trees that have equals.

    `told`: what spouts were told of roots, as the table marks has it; `settles`: what bolts said of edges. Both are
    read twice at most.
    """
    equals = F.broadcast(paired.where("equals is not null").select("edge", "equals", "got_at"))
    legs = tree.join(equals, "edge").withColumns({"acked": F.lit(False), "told": F.lit(None)}).select(*EqualLeg._fields)
    found = [EqualLeg(*row) for row in legs.collect()]
    roots = few(tree, {leg.root for leg in found})
    ended = told.where("what in ('acked', 'told fail')").join(roots, "root", "left_semi").select("root", "what", "t")
    ends = {root: (what, t) for root, what, t in ended.collect()}
    found = [leg._replace(told=ends[leg.root][0]) if leg.root in ends else leg for leg in found]
    # Of all other trees it does not matter, so it is not asked.
    of_lost = {leg.equals for leg in found if leg.receiver is None and leg.told == "acked"}
    failed = {
        leg.root for leg in found if leg.receiver is not None and leg.told == "told fail" and leg.equals in of_lost
    }
    acked = _acked(tree, settles, {root: ends[root][1] for root in failed})
    return [leg._replace(acked=leg.root in acked) for leg in found]


def few(rows: DataFrame, roots: Iterable[int]) -> DataFrame:
    """These roots, to be joined with `rows`."""
    return F.broadcast(local_rows(rows.sparkSession, [(root,) for root in sorted(roots)], "root bigint"))


def _acked(tree: DataFrame, settles: DataFrame, failed: Mapping[int, float]) -> set[int]:
    """The roots of which every tuple was acked, once, by the time given."""
    if not failed:
        return set()
    ended = F.broadcast(local_rows(tree.sparkSession, sorted(failed.items()), "root bigint, ended double"))
    legs = tree.join(ended, "root").select("root", "edge", "ended")
    said = settles.join(F.broadcast(legs.select("edge").distinct()), "edge", "left_semi")
    once = said.groupBy("edge").agg(
        F.expr("max(kind) = 'ack' and count(*) = 1 as once"), F.max("settled_t").alias("settled_t")
    )
    whole = "bool_and(coalesce(once and settled_t <= ended, false)) as acked"
    both = legs.join(F.broadcast(once), "edge", "left").groupBy("root").agg(F.expr(whole))
    return {row.root for row in both.where("acked").collect()}
