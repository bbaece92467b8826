"""Terminal output of a run of a topology: how it goes on, and what came of it."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from multilang_cli.reports.escape import escape
from multilang_cli.reports.failure import show_group, stderr_lines
from multilang_cli.reports.formats.console import MOST_GROUPS, show_summary, summary_of
from multilang_cli.reports.formats.trouble import MOST_LINES, fitting, show_first
from multilang_cli.reports.grouping import groups_of, troubles_of
from multilang_cli.reports.verdict import word_of
from multilang_cli.terminal.output import on_terminal, progress_line, remark
from multilang_cli.topology.blame import told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.formats.trouble import Room
    from multilang_cli.reports.page import Page
    from multilang_cli.terminal.output import Progress
    from multilang_cli.topology.engine.engine import Engine
    from multilang_cli.topology.engine.setup import Goal, Setup
    from multilang_cli.topology.engine.tally import Tally
    from multilang_cli.topology.running import TopologyRun

_PERIOD = 0.5
UNBOUNDED = 60.0
"""Seconds after which a run that nobody bounded is told of."""
MOST_SHOWN = 2
"""Emissions that were not acked of which the terminal tells; more are on the page."""
MOST_AROUND = 4
"""Lines of a screen that the heading takes, and what stands right behind the cause."""
MOST_WORDS = 6
"""Lines of stderr of a spout that emitted nothing."""
_QUANTILES = (("median", 0.5), ("95 %", 0.95), ("99 %", 0.99), ("at most", 1.0))
_HEADS = ("component", "tasks", "emitted", "received", "acked", "failed", "timed out", "lost", "latency")


@contextmanager
def progress_of(goal: Goal, *, quiet: bool) -> Iterator[Callable[[Engine], None]]:
    """Gives what tells how far an engine is on the way to its goal: on a terminal, by a line that is erased at the end.

    A run that nobody bounded, and that goes on, is told of on stderr, once.
    """
    with progress_line(verbose=False, quiet=quiet or not on_terminal()) as progress:

        def watch(engine: Engine) -> None:
            """Put on its agenda what is to be told."""
            if progress is not None:
                engine.agenda.every(_PERIOD, 0.0, partial(_show_progress, engine, goal, progress))
            if not (quiet or goal.messages or goal.seconds):
                engine.agenda.at(UNBOUNDED, partial(_tell_of_no_end, engine))

        yield watch


def _tell_of_no_end(engine: Engine) -> None:
    emitted = f"{engine.flow.spout_emissions:,} tuples emitted by spouts"
    remark(
        f"Still running after {UNBOUNDED:g} s, {emitted}. It ends when they have nothing more to emit, by --messages "
        "or --seconds, or by Ctrl-C."
    )


def _show_progress(engine: Engine, goal: Goal, progress: Progress) -> None:
    flow, total = engine.flow, 0
    if engine.phase == "run":
        total = goal.messages or round(goal.seconds)
    done = flow.spout_emissions if goal.messages else int(flow.t)
    told = f"{flow.spout_emissions:,} emitted by spouts, {flow.waiting:,} waited for, {flow.unsettled:,} under way"
    progress(f"{engine.phase} {flow.t:.0f} s: {told}", max(0, min(done, total) - 1), total)


def show_run(page: Page, run: TopologyRun, setup: Setup, rulebook: Rulebook, *, quiet: bool) -> None:
    """Show a run: a line for each component, what is wrong, where the rest stands; if `quiet` only the summary."""
    result = run.result
    if quiet:
        page.line(f"{word_of(result)}  {summary_of(result)}")
        return
    _show_header(page, run, setup)
    page.blank()
    explained = _show_cause(page, run, setup)
    _show_table(page, run, setup)
    _show_measures(page, run)
    if not explained:
        _show_stories(page, run)
    for subject in result.subjects:
        if subject.verdict == "untestable":
            page.blank()
            page.para(escape(f"{subject.id}: {subject.reason}"), label="Not known:", label_style="yellow", hang=11)
    if not explained and not any(tally.emitted for tally in run.tallies.values()):
        _show_last_words(page, run, setup)
    for group in groups_of(result)[:MOST_GROUPS]:
        if not (explained and group.first.causes):
            page.blank()
            show_group(page, group, rulebook)
    page.blank()
    for note in result.notes:
        page.para(note, label="Note:", label_style="yellow", hang=10)
    if said := run.account.sentence:
        page.para(escape(said), "bold", label="Messages:", hang=10)
    page.line(f"Recorded: {setup.folder} (result.json, history.ndjson, transcripts/, stderr/)")
    show_summary(page, result)


def _show_header(page: Page, run: TopologyRun, setup: Setup) -> None:
    result, outcome = run.result, run.outcome
    page.para(f"{result.tool.name} {result.tool.version}, topology {setup.topology.name}, Storm {result.storm}", "bold")
    acked = sum(tally.acked for name, tally in run.tallies.items() if setup.topology.components[name].kind == "spout")
    rate = f", {acked / outcome.seconds:,.0f} acked a second" if acked and outcome.seconds else ""
    first = f", the first after {outcome.first:.2f} s" if outcome.first is not None else ""
    ackers = len(setup.layout.ackers)
    page.para(f"{outcome.seconds:.1f} s{rate}{first}; {ackers} acker{'' if ackers == 1 else 's'}", indent=2)


def _show_cause(page: Page, run: TopologyRun, setup: Setup) -> bool:
    """Show why a component went wrong, if that is known: what became of its tuples followed from it."""
    if not troubles_of(run.result):
        return False
    all_seen = f"{setup.folder}/result.json"

    def show(page: Page, room: Room) -> None:
        """The cause, and a line between it and the table."""
        show_first(page, run.result, room, all_seen)
        page.blank()

    show(page, fitting(show, page.columns, MOST_LINES - MOST_AROUND))
    return True


def _show_measures(page: Page, run: TopologyRun) -> None:
    measures = run.measures
    tuples, tracking = measures.tracking
    if measures.availability is not None:
        at = ", ".join(f"{measures.latencies.quantile(part) * 1000:,.1f} ms {name}" for name, part in _QUANTILES)
        latency = f"; complete latency {at}" if measures.availability else ""
        page.blank()
        page.para(f"{measures.availability:.1%} of what ended was acked{latency}", indent=2)
    if tracking:
        page.para(f"{tuples:,} tuples delivered, {tracking:,} messages to follow them", indent=2)


def _show_stories(page: Page, run: TopologyRun) -> None:
    for story in run.stories[:MOST_SHOWN]:
        page.blank()
        for depth, text in told(story):
            page.para(escape(text), "bold" if not depth else "", indent=2 + 2 * depth)


def _show_last_words(page: Page, run: TopologyRun, setup: Setup) -> None:
    """Show the last that spouts wrote to stderr which did nothing wrong, and emitted nothing."""
    spouts = [name for name, component in setup.topology.components.items() if component.kind == "spout"]
    lives = {f"{name}-{task}" for name in spouts for task in setup.layout.tasks_of(name)}
    for subject in run.result.subjects:
        if subject.kind == "task" and subject.verdict == "pass" and {subject.id, subject.id.rpartition(".")[0]} & lives:
            lines = stderr_lines(subject.stderr_tail)[-MOST_WORDS:]
            if lines:
                page.para(f"the last words of {subject.id} on stderr:", indent=2)
                page.lines(lines, indent=2, bar="| ")


def _show_table(page: Page, run: TopologyRun, setup: Setup) -> None:
    rows = [_HEADS, *(_row(name, tally, setup) for name, tally in run.tallies.items())]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = (
            cell.ljust(size) if not at else cell.rjust(size)
            for at, (cell, size) in enumerate(zip(row, wide, strict=True))
        )
        page.line("  ".join(cells), "dim" if not number else "", indent=2)


def _row(name: str, tally: Tally, setup: Setup) -> tuple[str, ...]:
    spout = setup.topology.components[name].kind == "spout"
    latency = f"{tally.latency / tally.acked * 1000:,.1f} ms" if tally.acked else "-"
    counts = (tally.emitted, None if spout else tally.received, tally.acked, tally.failed)
    more = (tally.timed_out if spout else None, None if spout else tally.lost)
    shown = ("" if count is None else f"{count:,}" for count in (*counts, *more))
    return (name, str(len(setup.layout.tasks_of(name))), *shown, latency)
