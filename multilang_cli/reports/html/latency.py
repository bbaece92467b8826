"""Latencies of a component: from a tuple to its ack or fail, from a heartbeat or a command to its sync. As plots."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.protocol.words.events import Gap
from multilang_cli.protocol.words.messages import Ack, Fail, SpoutCommand, Sync, TupleMsg
from multilang_cli.reports.html.document import Axis, Band, Plot, SectionColumn, Series, TableSection
from multilang_cli.reports.html.spread import Point, Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.protocol.words.events import Event

MOST_OPEN = 100_000
"""Tuples whose end is awaited; of more that are open at a time, the oldest are not measured."""
_MILLI = 1e3


class _Plotted(NamedTuple):
    id: str
    title: str
    label: str
    series: tuple[str, ...]


_PLOTS = (
    _Plotted("settle", "Settling: from the tuple to its ack or fail", "time to settle", ("ack", "fail")),
    _Plotted("heartbeat", "Heartbeats: from the question to the sync", "time to answer", ("heartbeat",)),
    _Plotted("sync", "Commands: from the command to the sync", "time to answer", ("after next", "after others")),
)
_WORDS = {
    "ack": "tuple to ack",
    "fail": "tuple to fail",
    "heartbeat": "heartbeat to sync",
    "after next": "next to sync",
    "after others": "ack, fail, activate or deactivate to sync",
}


class Latency:
    """Measures one conversation, event by event, in order."""

    def __init__(self) -> None:
        self._spreads = {name: Spread() for name in _WORDS}
        self._open: dict[str, float] = {}
        self._asked: deque[tuple[str, float]] = deque(maxlen=MOST_OPEN)

    def take(self, event: Event) -> None:
        """Go on with the next event."""
        body = event.body
        if isinstance(body, Ack | Fail):
            if (began := self._open.pop(body.id, None)) is not None:
                self._add("ack" if isinstance(body, Ack) else "fail", began, event)
        elif isinstance(body, TupleMsg):
            self._delivered(body, event.t)
        elif isinstance(body, SpoutCommand):
            self._asked.append(("after next" if body.command == "next" else "after others", event.t))
        elif isinstance(body, Sync):
            if self._asked:
                name, began = self._asked.popleft()
                self._add(name, began, event)
        elif isinstance(body, Gap):
            self._open.clear()
            self._asked.clear()

    def _delivered(self, message: TupleMsg, t: float) -> None:
        if message.is_heartbeat:
            self._asked.append(("heartbeat", t))
            return
        self._open[message.id] = t
        if len(self._open) > MOST_OPEN:
            del self._open[next(iter(self._open))]

    def _add(self, name: str, began: float, event: Event) -> None:
        self._spreads[name].add(Point(event.t, max(0.0, event.t - began), event.seq))

    def table(self, lead: str) -> TableSection | None:
        """The spread of durations; None if nothing was measured."""
        measured = {name: spread for name, spread in self._spreads.items() if spread.count}
        if not measured:
            return None
        columns = ("what", "count", "median, ms", "99 %, ms", "most, ms")
        return TableSection(
            id=f"{lead}-latency",
            title="Latency",
            note="As seen from Storm's side, pipes included; quantiles are right within 2.5 %.",
            columns=tuple(
                SectionColumn(name=name, align="right" if number else "left") for number, name in enumerate(columns)
            ),
            rows=tuple(
                (_WORDS[name], spread.count, *map(_shown, (spread.quantile(0.5), spread.quantile(0.99), spread.most)))
                for name, spread in measured.items()
            ),
        )

    def plots(self, lead: str, to: Callable[[int], str | None], timeout: float) -> Iterator[Plot]:
        """A plot for each kind that was measured. `to`: where an event is shown; `timeout`: Storm's, in seconds."""
        for plotted in _PLOTS:
            spreads = {name: self._spreads[name] for name in plotted.series if self._spreads[name].count}
            if not spreads:
                continue
            most = max(spread.most for spread in spreads.values())
            limit = Band(from_=timeout * _MILLI, to=timeout * _MILLI, label="Storm's subprocess timeout", tone="bad")
            yield Plot(
                id=f"{lead}-{plotted.id}",
                title=plotted.title,
                note=_thinned(spreads),
                x=Axis(label="time of the conversation", unit="s"),
                y=Axis(label=plotted.label, unit="ms", log=True),
                series=tuple(_series(name, spread, to) for name, spread in spreads.items()),
                bands=(limit,) if plotted.id != "settle" and most * 10 > timeout else (),
            )


def _series(name: str, spread: Spread, to: Callable[[int], str | None]) -> Series:
    points = spread.drawn()
    return Series(
        name=name,
        style="points",
        x=[round(point.x, 6) for point in points],
        # A logarithm has no place for 0: times are told in microseconds.
        y=[max(_shown(point.y), 0.001) for point in points],
        to=[to(point.seq) for point in points],
    )


def _thinned(spreads: dict[str, Spread]) -> str:
    most = max(spread.thinned for spread in spreads.values())
    return f"Of each {most} neighbours in time the slowest is drawn." if most > 1 else ""


def _shown(seconds: float) -> float:
    return round(seconds * _MILLI, 3)
