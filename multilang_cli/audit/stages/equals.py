"""Equal emissions of which some were lost: which of them, by what became of their trees.

Their order alone does not tell. But a tree that was acked has lost nothing; so where one is that seems to, and the tree
of an equal failed though it seems whole, it was the equal that was lost. These are few, so the driver exchanges them,
and puts their trees together again.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.store.local_rows import local_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame

MOST_LEGS = 100_000
"""Tuples that the driver looks at, at most: where there are more, nobody tells equals apart."""


class _TooManyError(Exception):
    """There are more tuples than the driver looks at."""


class TreeLeg(NamedTuple):
    """An emission to a task in a tree: a row of `trees`. `edge` to `later`: what it became, as the table pairs has it.

    `doubt`: the largest on the way from the root.
    """

    root: int
    emission: int
    sender: int
    sent_at: float
    target: int | None
    edge: int
    receiver: int | None
    id: str | None
    later: bool
    doubt: int


_LEG_TYPES = (
    "root bigint, emission bigint, sender int, sent_at double, target int, edge bigint, receiver int, id string,"
    " later boolean, doubt int"
)


_CHILD = ("cast(0 as bigint) as root", *TreeLeg._fields[1:])


class EqualLeg(NamedTuple):
    """An emission that has equals, in a tree. `equals`: the same for all of them; `edge` to `later`: what it became.

    `acked`: so was every tuple of the tree, once, before the spout was told; `told`: what that was, None for nothing.
    """

    equals: int
    root: int
    emission: int
    sent_at: float
    edge: int
    receiver: int | None
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
        acked = [leg for leg in each if _lost_of_acked(leg)]
        failed = [leg for leg in each if _there_of_failed(leg) and leg.acked]
        if len(failed) <= len(acked):
            found += map(Exchange, failed, acked)
    return found


def _lost_of_acked(leg: EqualLeg) -> bool:
    return leg.receiver is None and leg.told == "acked"


def _there_of_failed(leg: EqualLeg) -> bool:
    return leg.receiver is not None and leg.told == "told fail"


def rebuilt(
    legs: Iterable[TreeLeg], children: Mapping[int, Sequence[TreeLeg]], found: Sequence[Exchange], levels: int
) -> list[TreeLeg]:
    """Trees put together again, level by level, the tuples of emissions exchanged.

    `legs`: first of each; `children`: by edge, what was emitted with that anchor; `levels`: of them, at most.
    """
    new = {(one.emission, one.edge): _became(one, other) for each in found for one, other in (each, each[::-1])}

    def exchanged(leg: TreeLeg) -> TreeLeg:
        """The same leg, or what it is now."""
        return leg._replace(**new.get((leg.emission, leg.edge), {}))

    level = [exchanged(leg) for leg in legs]
    rows: list[TreeLeg] = []
    for _ in range(levels):
        rows += level
        below: dict[TreeLeg, int] = {}
        for above in level:
            for child in children.get(above.edge, ()) if above.receiver is not None else ():
                leg = exchanged(child)._replace(root=above.root, doubt=0)
                # What is anchored to two tuples of a tree is in it once.
                below[leg] = max(below.get(leg, 0), child.doubt, above.doubt)
        level = [leg._replace(doubt=doubt) for leg, doubt in below.items()]
    return rows


def _became(one: EqualLeg, other: EqualLeg) -> dict[str, Any]:
    """All that `other` has become, for the emission `one`."""
    later = other.receiver is None and (other.later or one.sent_at <= other.sent_at)
    return {"receiver": other.receiver, "edge": other.edge, "id": other.id, "later": later}


def told_apart(
    tree: DataFrame, children: DataFrame, paired: DataFrame, *, told: DataFrame, settles: DataFrame, levels: int
) -> DataFrame:
    """The trees with equal emissions exchanged, where what became of their trees says so.

    `children`: pairs by `anchor`; `told`: what spouts were told of roots, as the table marks has it; `settles`: what
    bolts said of edges. These are read once. `levels`: of trees, at most.
    """
    try:
        again = _trees_again(tree, children, paired, told=told, settles=settles, levels=levels)
    except _TooManyError:
        return tree
    if not again:
        return tree
    others = tree.join(_keys(tree, "root", {leg.root for leg in again}), "root", "left_anti")
    rows = local_rows(tree.sparkSession, again, _LEG_TYPES)
    return others.select([*TreeLeg._fields]).unionByName(rows)


def _trees_again(
    tree: DataFrame, children: DataFrame, paired: DataFrame, *, told: DataFrame, settles: DataFrame, levels: int
) -> list[TreeLeg]:
    """The trees that have emissions to be exchanged, as they are then."""
    legs = _equal_legs(tree, paired)
    ended = told.where("what in ('acked', 'told fail')").select("root", "what", "t")
    ends = {root: (what, t) for root, what, t in _few(ended, "root", {leg.root for leg in legs})}
    legs = [leg._replace(told=ends[leg.root][0]) if leg.root in ends else leg for leg in legs]
    # Of all other trees it does not matter, so it is not asked.
    lost = [leg for leg in legs if _lost_of_acked(leg)]
    of_lost = {leg.equals for leg in lost}
    failed = {leg.root for leg in legs if _there_of_failed(leg) and leg.equals in of_lost}
    trees = _trees_of(tree, failed.union(leg.root for leg in lost)) if failed else {}
    acked = _acked({root: trees[root] for root in failed}, settles, ends)
    found = exchanges(leg._replace(acked=leg.root in acked) for leg in legs)
    trees = {leg.root: trees[leg.root] for each in found for leg in each}
    below: dict[int, list[TreeLeg]] = {}
    edges = {leg.edge for each in trees.values() for leg in each}
    for anchor, *row in _few(children.selectExpr("anchor", *_CHILD), "anchor", edges):
        below.setdefault(anchor, []).append(TreeLeg(*row))
    roots = [leg for root, each in trees.items() for leg in each if leg.emission == root]
    return rebuilt(roots, below, found, levels)


def _equal_legs(tree: DataFrame, paired: DataFrame) -> list[EqualLeg]:
    """The legs of trees that have equals; what became of the trees is to be asked."""
    equals = F.broadcast(paired.where("equals is not null").select("edge", "equals"))
    legs = tree.join(equals, "edge").withColumns({"acked": F.lit(False), "told": F.lit(None)})
    return [EqualLeg(*row) for row in _bounded(legs.select([*EqualLeg._fields]))]


def _trees_of(tree: DataFrame, roots: Collection[int]) -> dict[int, list[TreeLeg]]:
    found: dict[int, list[TreeLeg]] = {}
    for leg in map(TreeLeg._make, _few(tree.select([*TreeLeg._fields]), "root", roots)):
        found.setdefault(leg.root, []).append(leg)
    return found


def _acked(
    trees: Mapping[int, Sequence[TreeLeg]], settles: DataFrame, ends: Mapping[int, tuple[str, float]]
) -> set[int]:
    """The roots of which every tuple was acked, once, before the spout was told."""
    edges = {leg.edge for legs in trees.values() for leg in legs}
    said: dict[int, list[tuple[str, float]]] = {}
    for edge, kind, t in _few(settles.select("edge", "kind", "settled_t"), "edge", edges):
        said.setdefault(edge, []).append((kind, t))

    def once(edge: int, ended: float) -> bool:
        """True if all that was said of it is one ack, in time."""
        match said.get(edge):
            case [("ack", t)]:
                return t <= ended
        return False

    return {root for root, legs in trees.items() if all(once(leg.edge, ends[root][1]) for leg in legs)}


def _few(rows: DataFrame, key: str, values: Collection[int]) -> list[Any]:
    return _bounded(rows.join(_keys(rows, key, values), key, "left_semi").select(rows.columns)) if values else []


def _keys(rows: DataFrame, key: str, values: Iterable[int]) -> DataFrame:
    return F.broadcast(local_rows(rows.sparkSession, [(value,) for value in sorted(values)], f"{key} bigint"))


def _bounded(rows: DataFrame) -> list[Any]:
    """The rows, in one job. Raises _TooManyError."""
    found = rows.repartition(1).limit(MOST_LEGS + 1).collect()
    if len(found) > MOST_LEGS:
        raise _TooManyError
    return found
