"""Latency and throughput of each component over time, in steps that fit the length of the recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.pages.cells import moment
from multilang_cli.reports.html.document import Axis, Plot, Series
from multilang_cli.reports.html.run_sections import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Row

    from multilang_cli.audit.store.stored import StoredTables

MOST_STEPS = 120
"""Points of a line, at most, about."""
MOST_POINTS = 10_000
_STEPS = (1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 86_400, 7 * 86_400)
"""Seconds of a step."""
_LAST_STEP = 2**31 - 1
"""Steps from the first, at most."""
_UNITS = (("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))


def over_time(known: StoredTables) -> Iterator[Plot]:
    """Two plots of the tuples that components were given; nothing where no recording says when it was."""
    begun = [part.started for parts in known.facts.parts.values() for part in parts if part.started is not None]
    if not begun:
        return
    last = max(
        parts[0].started + known.facts.spans[conv].t
        for conv, parts in known.facts.parts.items()
        if parts[0].started is not None and conv in known.facts.spans
    )
    start = min(begun)
    step = next((each for each in _STEPS if (last - start) / each <= MOST_STEPS), _STEPS[-1])
    rows = _rows(known, start, step)
    if not rows:
        return
    unit, seconds = next((each for each in _UNITS if last - start >= each[1]), _UNITS[-1])
    x = Axis(label=f"{unit} since {moment(start)[:-4]} UTC")
    each_step = f"in steps of {step} s" if step < _STEPS[3] else f"in steps of {step // 60} min"
    yield Plot(
        id="latency",
        title="Latency by component",
        note=f"Until a tuple was settled, {each_step}.",
        x=x,
        y=Axis(label="until settled", unit="ms", log=True),
        series=tuple(
            series
            for component, mine in rows.items()
            for name, column in (("half", "half"), ("99 of 100", "most"))
            for series in _latency(f"{component}: {name}", mine, column, step / seconds)
        ),
    )
    yield Plot(
        id="throughput",
        title="Throughput by component",
        note=f"Tuples that a bolt was given, or a spout emitted with a message id, {each_step}.",
        x=x,
        y=Axis(label="tuples a second"),
        series=tuple(
            Series(
                name=component,
                x=[row.step * step / seconds for row in mine],
                y=[row.tuples / step for row in mine],
                style="line",
            )
            for component, mine in rows.items()
        ),
    )


def _rows(known: StoredTables, start: float, step: int) -> dict[str, list[Row]]:
    """Rows of each component, in order."""
    ledger = known["ledger"]
    who = known.facts.people(ledger.sparkSession).select("conv", "component")
    # A hostile time would be too many steps from the others for any integer.
    in_time = f"(at - {start!r}D) / {step} < {_LAST_STEP}"
    placed = ledger.where(f"at is not null and nth > 0 and {in_time}").select("conv", "at", "after").join(who, "conv")
    steps = placed.selectExpr("component", f"cast(floor((at - {start!r}D) / {step}) as int) as step", "after")
    found = steps.groupBy("component", "step").agg(
        F.expr("count(*) as tuples"), F.expr("percentile_approx(after, array(0.5, 0.99)) as seconds")
    )
    told = found.selectExpr("component", "step", "tuples", "seconds[0] as half", "seconds[1] as most")
    by: dict[str, list[Row]] = {}
    for row in told.orderBy("component", "step").limit(MOST_POINTS).collect():
        by.setdefault(line(row.component), []).append(row)
    return by


def _latency(name: str, rows: list[Row], column: str, width: float) -> Iterator[Series]:
    known = [row for row in rows if row[column] is not None]
    if known:
        seconds = [max(row[column] * 1000, 0.001) for row in known]
        yield Series(name=name, x=[row.step * width for row in known], y=seconds, style="points")
