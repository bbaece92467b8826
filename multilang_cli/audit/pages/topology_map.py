"""The topology of an audit as a graph: tuples from component to component, and a table behind each that lost some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.reports.html.document import Cell, Edge, Graph, GraphNode, SectionColumn, Steps, TableSection
from multilang_cli.reports.html.run_sections import line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import Row

    from multilang_cli.audit.store.stored import StoredTables

_WRONG = ("never", "late", "twice")
MOST_ROWS = 100
"""Pairs of a source and a task that a table has: those that lost most."""


def topology_map(known: StoredTables) -> Iterator[Steps | TableSection]:
    """The components, who feeds whom, with losses; then for each that lost something by which task, and from whom."""
    rows = _fed(known)
    did = known["rates"].groupBy("component").agg({"tuples": "sum", "emits": "sum"}).collect()
    activity = {row.component: row for row in did}
    names = sorted({*activity, *(row.source for row in rows)})
    if not names:
        return
    numbers = {name: number for number, name in enumerate(names)}
    by: dict[tuple[str, str], list[Row]] = {}
    lost: dict[str, list[Row]] = {}
    for row in rows:
        by.setdefault((row.source, row.component), []).append(row)
        if any(row[wrong] for wrong in _WRONG):
            lost.setdefault(row.component, []).append(row)
    yield Steps(
        id="topology",
        title="The topology",
        note="Tuples that bolts were given. Choose a component in red to see which of its tasks lost what.",
        graph=Graph(
            nodes=tuple(_node(number, name, activity.get(name), name in lost) for name, number in numbers.items()),
            edges=tuple(_edge(numbers, way, mine) for way, mine in by.items()),
            direction="LR",
        ),
        steps=(),
    )
    for name, mine in lost.items():
        yield _losses(numbers[name], name, mine)


def _fed(known: StoredTables) -> list[Row]:
    """A row for each component that feeds a task: what became of its tuples there."""
    ledger = known["ledger"]
    who = known.facts.people(ledger.sparkSession).select("conv", "component", "task")
    given = ledger.where("kind = 'bolt' and nth > 0 and comp is not null")
    found = given.selectExpr("conv", "comp as source", "verdict", "after").join(who, "conv")
    counted = found.groupBy("source", "component", "task").agg(
        F.expr("count(*) as tuples"),
        *(F.expr(f"count_if(verdict = '{wrong}') as {wrong}") for wrong in _WRONG),
        F.expr("percentile_approx(after, 0.99) as most"),
    )
    return counted.orderBy("source", "component", "task").collect()


def _node(number: int, name: str, did: Row | None, lost: bool) -> GraphNode:
    detail = "" if did is None else f"{did['sum(tuples)']} in, {did['sum(emits)']} out"
    to = f"lost-{number}" if lost else None
    return GraphNode(id=f"n{number}", label=line(name), detail=detail, tone="bad" if lost else None, to=to)


def _edge(numbers: Mapping[str, int], way: tuple[str, str], rows: list[Row]) -> Edge:
    source, component = way
    tuples, never = sum(row.tuples for row in rows), sum(row.never for row in rows)
    label = f"{tuples} tuples, {never} never settled" if never else f"{tuples} tuples"
    ends = f"n{numbers[source]}", f"n{numbers[component]}"
    return Edge(from_=ends[0], to=ends[1], label=label, tone="bad" if never else None)


def _losses(number: int, name: str, rows: list[Row]) -> TableSection:
    heads = ("task", "from", "tuples", *(f"{wrong} settled" if wrong == "never" else wrong for wrong in _WRONG))
    worst = sorted(rows, key=lambda row: tuple(-row[wrong] for wrong in _WRONG))[:MOST_ROWS]
    return TableSection(
        id=f"lost-{number}",
        title=f"What went wrong in {line(name)}",
        note="By the task that was given a tuple and the component that sent it: never settled, too late, twice.",
        folded=True,
        columns=(
            *(SectionColumn(name=head, align="left" if head == "from" else "right") for head in heads),
            SectionColumn(name="99 of 100 within (s)", align="right"),
        ),
        rows=tuple(
            (
                Cell(text=str(row.task), value=float(row.task)),
                line(row.source),
                *(Cell(text=f"{row[each]:,}", value=float(row[each])) for each in ("tuples", *_WRONG)),
                "-" if row.most is None else Cell(text=f"{row.most:.6g}", value=row.most),
            )
            for row in worst
        ),
    )
