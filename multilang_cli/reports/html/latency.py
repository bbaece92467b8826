"""Latencies of a component: from a tuple to its ack or fail, from a heartbeat or a command to its sync. As plots."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.protocol.words.events import Gap
from multilang_cli.protocol.words.messages import HEARTBEAT_STREAM, Ack, Fail, SpoutCommand, Sync, TupleMsg
from multilang_cli.reports.html.document import Axis, Band, Plot, SectionColumn, Series, TableSection
from multilang_cli.reports.html.spread import Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    """Measures one conversation, in order."""

    def __init__(self) -> None:
        self._spreads = {name: Spread() for name in _WORDS}
        self._measured: dict[str, list[tuple[float, float, int]]] = {name: [] for name in _WORDS}
        # The oldest of a plain dict is found only behind the places of all that it held before.
        self._open: OrderedDict[str, float] = OrderedDict()
        self._asked: deque[tuple[str, float]] = deque(maxlen=MOST_OPEN)
        self._takes: dict[type, Callable[[int, float, Any], None]] = {
            SpoutCommand: self._ask,
            Sync: self._answer,
            Gap: self._forget,
        }

    def take(self, seq: int, bodies: Sequence[Any], times: Sequence[float]) -> None:
        """Go on with what follows each other, the first with the number `seq`."""
        begun, measured, takes = self._open, self._measured, self._takes
        for place, (body, t) in enumerate(zip(bodies, times, strict=True), seq):
            # Of millions of messages nearly all are tuples and acks: for them nothing is called.
            kind = body.__class__
            if kind is TupleMsg:
                if body.stream == HEARTBEAT_STREAM and body.is_heartbeat:
                    self._asked.append(("heartbeat", t))
                    continue
                begun[body.id] = t
                if len(begun) > MOST_OPEN:
                    begun.popitem(last=False)
            elif kind is Ack or kind is Fail:
                if (began := begun.pop(body.id, None)) is not None:
                    measured["ack" if kind is Ack else "fail"].append((t, max(0.0, t - began), place))
            elif (take := takes.get(kind)) is not None:
                take(place, t, body)
        for name, some in measured.items():
            if some:
                self._spreads[name].add(some)
                some.clear()

    def _ask(self, _: int, t: float, command: SpoutCommand) -> None:
        self._asked.append(("after next" if command.command == "next" else "after others", t))

    def _answer(self, seq: int, t: float, _: Sync) -> None:
        if self._asked:
            name, began = self._asked.popleft()
            self._measured[name].append((t, max(0.0, t - began), seq))

    def _forget(self, *_: object) -> None:
        self._open.clear()
        self._asked.clear()

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
