"""A run of a topology as sections of a page: graph, trees, tasks over time with the faults, latency, rate and load."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from multilang_cli.reports.escape import escape, escape_lines
from multilang_cli.reports.html.document import (
    Axis,
    Band,
    Cell,
    FactsSection,
    Plot,
    SectionColumn,
    Series,
    TableSection,
    Text,
)
from multilang_cli.reports.html.tree_steps import tree_section
from multilang_cli.topology.blame import told
from multilang_cli.topology.flow_graph import FlowGraph
from multilang_cli.topology.history import Delivered, Died, EmissionEnded, Emitted, Faulted, Lost, TupleSettled
from multilang_cli.topology.history_file import read_history
from multilang_cli.transcript.naming import HISTORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from multilang_cli.reports.html.document import AnySection
    from multilang_cli.topology.engine.setup import Setup
    from multilang_cli.topology.history import Happening
    from multilang_cli.topology.running import TopologyRun

MOST_EVENTS = 4_000
"""Events of each kind that are drawn over time: the first."""
MOST_FAULTS = 20
"""Faults that have a line of their own."""
MOST_BINS = 400
_WHY = "Why emission {} was not acked"
_NOTE = "As the history has it: every tuple, who it went to, and the ack val that its acker had after each message."


def sections_of(run: TopologyRun, setup: Setup) -> Iterator[AnySection]:
    """Sections of a run's page besides its subjects and conversations. Reads the run's history."""
    drawing, graph = _Drawing(), FlowGraph(setup.topology, setup.layout.components)
    for event in read_history(setup.folder / HISTORY):
        drawing.take(event)
        graph.take(event)
    yield graph.section()
    yield _numbers(run)
    for number, story in enumerate(run.stories, 1):
        if not story.loose:
            steps = [0] * len(story.tree.steps)
            yield tree_section(f"story-{number}", story.tree, steps, {}, lambda _: None, note=_NOTE)
        lines = "\n".join("  " * depth + text for depth, text in told(story))
        title = f"What became of emission {story.emission}" if story.loose else _WHY.format(story.emission)
        yield Text(id=f"blame-{number}", title=title, paragraphs=(), code=escape_lines(lines))
    yield from drawing.plots(setup)
    yield from _loads(run, setup)


def _numbers(run: TopologyRun) -> FactsSection:
    measures = run.measures
    tuples, tracking = measures.tracking
    rows = [("account", escape(run.account.sentence))] if run.account.sentence else []
    rows += [(f"{how}", f"{count:,} emissions") for how, count in measures.ends.items()]
    rows += [("fault", escape(str(each))) for each in measures.recoveries[:MOST_FAULTS]]
    if measures.availability is not None:
        rows.append(("availability", f"{measures.availability:.2%} of what ended was acked"))
    if measures.availability:
        quantiles = ((0.5, "median"), (0.95, "95 %"), (0.99, "99 %"), (1.0, "at most"))
        shown = ", ".join(f"{name} {measures.latencies.quantile(part) * 1000:,.1f} ms" for part, name in quantiles)
        rows.append(("complete latency", shown))
    rows.append(
        ("messages", f"{tuples:,} tuples; {tracking:,} to follow them: without tracking there are none of these")
    )
    return FactsSection(id="run-numbers", title="What tracking shows, and what it costs", rows=tuple(rows))


class _Drawing:
    """Data of the drawings of a history: of each kind of event the first ones, and counts over time."""

    def __init__(self) -> None:
        self._points: dict[str, tuple[list[float], list[float]]] = {}
        self._faults: dict[int, tuple[str, list[float], float]] = {}
        self._task_of: dict[int, int] = {}
        self._spouts: dict[str, Counter[int]] = {"emitted": Counter(), "acked": Counter(), "failed": Counter()}
        self._latencies: dict[str, tuple[list[float], list[float]]] = {}
        self._end = 0.0

    def take(self, event: Happening) -> None:
        """The next event."""
        self._end = event.t
        match event:
            case Emitted(task=task, t=t, message_id=message_id):
                self._point("emitted", t, task)
                if message_id is not None:
                    self._spouts["emitted"][int(t * 10)] += 1
            case Delivered(n=number, task=task, t=t):
                self._task_of[number] = task
                self._point("queued", t, task)
            case TupleSettled(delivery=number, how=how, t=t):
                self._point(f"{how}ed", t, self._task_of.pop(number, 0))
            case Lost(delivery=number, t=t):
                self._point("lost", t, self._task_of.pop(number, 0))
            case Died(t=t, task=task):
                self._point("died", t, task or 0)
            case EmissionEnded(how=how, t=t, latency=latency):
                self._spouts["acked" if how == "acked" else "failed"][int(t * 10)] += 1
                xs, ys = self._latencies.setdefault(how, ([], []))
                if len(xs) < MOST_EVENTS:
                    xs.append(t)
                    ys.append(max(latency * 1000, 0.001))
            case Faulted():
                self._faulted(event)

    def plots(self, setup: Setup) -> Iterator[Plot]:
        """Plots of the history, as far as there is any."""
        time = Axis(label="time of the run", unit="s")
        spans = tuple(self._spans())
        tasks = ", ".join(f"{task} {escape(name)}" for task, name in setup.layout.components.items())
        if self._points:
            moment = self._end / 100
            points = [Series(name=name, x=xs, y=ys, style="points") for name, (xs, ys) in self._points.items()]
            faults = [
                Series(name=escape(name), x=[ends[0], max(ends[-1], ends[0] + moment)], y=[task, task], style="line")
                for name, ends, task in self._faults.values()
            ]
            note = f"Each row is a task, each line or band a fault while it lasts; row 0 is a whole worker. {tasks}."
            yield Plot(
                id="space-time",
                title="Tasks over time",
                note=note,
                x=time,
                y=Axis(label="task"),
                series=(*points, *faults),
                bands=spans,
            )
        if self._latencies:
            timeout = setup.message_timeout * 1000
            late = any(max(ys) * 10 > timeout for _, ys in self._latencies.values())
            bands = (Band(from_=timeout, to=2 * timeout, label="time-outs", tone="warn"),) if timeout else ()
            yield Plot(
                id="complete-latency",
                title="Complete latency",
                x=time,
                y=Axis(label="from the emit to its end", unit="ms", log=True),
                series=tuple(Series(name=how, x=xs, y=ys, style="points") for how, (xs, ys) in self._latencies.items()),
                bands=(*(bands if late else ()), *spans),
            )
        if any(self._spouts.values()):
            yield Plot(
                id="rate",
                title="Emissions of spouts, and how they end",
                x=time,
                y=Axis(label="a second"),
                series=tuple(self._rates()),
                bands=spans,
            )

    def _spans(self) -> Iterator[Band]:
        for name, ends, _ in self._faults.values():
            yield Band(from_=ends[0], to=ends[-1], label=escape(name), tone="bad", along="x")

    def _point(self, kind: str, t: float, task: int) -> None:
        xs, ys = self._points.setdefault(kind, ([], []))
        if len(xs) < MOST_EVENTS:
            xs.append(t)
            ys.append(task)

    def _faulted(self, event: Faulted) -> None:
        if event.phase == "strikes" and len(self._faults) < MOST_FAULTS:
            self._faults[event.plan] = (event.fault, [event.t], event.task or 0)
        elif event.phase == "heals" and event.plan in self._faults:
            self._faults[event.plan][1].append(event.t)

    def _rates(self) -> Iterable[Series]:
        last = int(self._end * 10)
        wide = max(1, -(-(last + 1) // MOST_BINS))
        for name, counts in self._spouts.items():
            bins: Counter[int] = Counter()
            for at, count in counts.items():
                bins[at // wide] += count
            places = range(last // wide + 1)
            seconds = wide / 10
            yield Series(
                name=name,
                x=[round(place * seconds, 1) for place in places],
                y=[bins[place] / seconds for place in places],
                style="steps",
            )


def _loads(run: TopologyRun, setup: Setup) -> Iterator[TableSection]:
    measures = run.measures
    if measures.streams:
        columns = (
            SectionColumn(name="component"),
            SectionColumn(name="stream"),
            SectionColumn(name="tuples", align="right"),
        )
        rows = tuple((escape(name), escape(stream), count) for (name, stream), count in measures.streams.items())
        yield TableSection(id="streams", title="Tuples delivered", columns=columns, rows=rows)
    if setup.layout.ackers:
        kinds = ("init", "ack", "fail")
        heads = (SectionColumn(name="acker"), *(SectionColumn(name=each, align="right") for each in kinds))
        loads: tuple[tuple[str | float | Cell, ...], ...] = tuple(
            (f"task {task}", *(measures.ackers[task, each] for each in kinds)) for task in setup.layout.ackers
        )
        yield TableSection(id="ackers", title="Messages to each acker", columns=heads, rows=loads)
