"""The figures of ``mlcheck bench`` as a page of the project's one kit."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any

from multilang_cli.bench.summing import three_digits
from multilang_cli.reports.escape import escape
from multilang_cli.reports.html.document import (
    AnySection,
    Axis,
    Cell,
    FactsSection,
    PageDocument,
    PageVerdict,
    Plot,
    SectionColumn,
    Series,
    TableSection,
    Text,
)
from multilang_cli.reports.html.page_file import load_kit, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TIMES = ("p50", "p99", "p999", "max")
_COLUMNS = ("command", "window", "a second", "p50 µs", "p99 µs", "p99.9 µs", "max µs", "heartbeat max µs", "CPU", "MiB")
_X = Axis(label="in flight, 10 to this power")


def page_of(report: dict[str, Any]) -> str:
    """The page of a bench document (``summing.document``): rates and round trips by window, the table, the ratios.

    Raises KitError.
    """
    return render(document_of(report), load_kit())


def document_of(report: dict[str, Any]) -> PageDocument:
    """The same as a page document."""
    candidates = report["candidates"]
    wrong = [finding for each in candidates for finding in each["findings"]]
    said = [sentence for each in candidates for sentence in each["sentences"]]
    return PageDocument(
        title=escape(", ".join(each["command"] for each in candidates)),
        subtitle=escape((wrong or said or ["nothing was measured"])[0]),
        made_by=f"{report['tool']['name']} {report['tool']['version']}",
        made_at=report["made_at"].replace("+00:00", "Z"),
        verdict=PageVerdict(text="wrong" if wrong else "measured", tone="bad" if wrong else "good"),
        sections=tuple(_sections(report, wrong)),
    )


def _sections(report: dict[str, Any], wrong: Sequence[str]) -> Iterator[AnySection]:
    candidates, spout = report["candidates"], report["kind"] == "spout"
    if wrong:
        yield Text(id="wrong", title="Wrong", paragraphs=tuple(map(escape, wrong)))
    what = "calls of next" if spout else "tuples settled"
    rates = [_series(each, each["command"], lambda cell: cell["rate"]) for each in candidates]
    yield Plot(id="rates", title=f"Rate: {what} a second", x=_X, y=Axis(label=what, unit="/s"), series=tuple(rates))
    yield from _times(candidates)
    sentences = [escape(sentence) for each in candidates for sentence in each["sentences"]]
    if sentences:
        yield Text(id="meaning", title="What it means to Storm", paragraphs=tuple(sentences))
    columns = tuple(SectionColumn(name=name, align="right" if place else "left") for place, name in enumerate(_COLUMNS))
    rows = tuple(_row(each["command"], cell) for each in candidates for cell in each["cells"])
    yield TableSection(id="figures", title="Figures", columns=columns, rows=rows)
    if report["ratios"]:
        yield _ratios(report["ratios"])
    yield FactsSection(
        id="about",
        title="About",
        rows=(
            ("Storm", report["storm"]),
            ("placed", escape(report["placed"])),
            ("each measure", f"{report['seconds']:g} s, {report['rounds']} rounds"),
        ),
    )


def _times(candidates: Sequence[dict[str, Any]]) -> Iterator[Plot]:
    for number, each in enumerate(candidates, 1):
        series = [
            _series(each, name.replace("p999", "p99.9"), lambda cell, name=name: cell["round_trip_us"].get(name))
            for name in _TIMES
        ]
        if any(line.x for line in series):
            title = "Round trips" if len(candidates) == 1 else f"Round trips: {escape(each['command'])}"
            axis = Axis(label="from the question to the answer", unit="µs", log=True)
            yield Plot(id=f"trips-{number}", title=title, x=_X, y=axis, series=tuple(series))


def _series(candidate: dict[str, Any], name: str, value: Any) -> Series:
    points = [(log10(cell["window"]), value(cell)) for cell in candidate["cells"]]
    whole = [(x, float(y)) for x, y in points if y]
    return Series(name=escape(name), x=[x for x, _ in whole], y=[y for _, y in whole], style="line")


def _row(command: str, cell: dict[str, Any]) -> tuple[str | float | Cell, ...]:
    times = [cell["round_trip_us"].get(name) for name in _TIMES]
    return (
        escape(command),
        cell["window"],
        _number(cell["rate"]),
        *map(_number, times),
        _number(cell["heartbeat_us"].get("max")),
        Cell(text=f"{cell['cpu']:.0%}", value=cell["cpu"]),
        _number(cell["memory_mib"]),
    )


def _number(value: float | None) -> Cell:
    if value is None:
        return Cell(text="-")
    return Cell(text=three_digits(value), value=value)


def _ratios(ratios: Sequence[dict[str, Any]]) -> TableSection:
    columns = tuple(SectionColumn(name=name, align="right") for name in ("window", "times the first", "least", "most"))
    rows = tuple((ratio["window"], *(_number(ratio[name]) for name in ("middle", "low", "high"))) for ratio in ratios)
    return TableSection(id="ratios", title="The second against the first, round by round", columns=columns, rows=rows)
