"""One run of a topology, written to a folder: its history, transcripts, stderr of each task, and what came of it."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli import __version__
from multilang_cli.catalogue.diagnosing import RecentEvents
from multilang_cli.judging.excerpts import excerpt_of, numbered
from multilang_cli.protocol.wire.encoding import encoded
from multilang_cli.reports.escape import decode
from multilang_cli.reports.formats.json_report import to_json
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.reports.machine import platform_of
from multilang_cli.reports.model import ComponentReport, ExcerptLine, Exit, RunResult, SubjectResult, Suite, Tool
from multilang_cli.reports.verdict import Circumstances, conclude, verdict_of
from multilang_cli.subject.source.sources import source_of, user_lines_of
from multilang_cli.terminal.exits import CommandError
from multilang_cli.topology.blame import stories
from multilang_cli.topology.checkers.judge import Judge
from multilang_cli.topology.engine.engine import Engine
from multilang_cli.topology.engine.logged import GIVEN_UP
from multilang_cli.topology.engine.tally import Tally
from multilang_cli.topology.faults.injector import Injector
from multilang_cli.topology.history_file import HistoryFile, read_history
from multilang_cli.topology.java.groupings import CustomGroupings
from multilang_cli.topology.judging import facts_of, subject_of
from multilang_cli.topology.model import QUEUED
from multilang_cli.topology.queue.server import ADDRESS, QueueServer
from multilang_cli.topology.risks import RiskScan
from multilang_cli.transcript.format import TranscriptError
from multilang_cli.transcript.naming import HISTORY
from multilang_cli.transcript.private import make_private
from multilang_cli.transcript.read import read as read_transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from multilang_cli.causes.model import Cause
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.topology.blame import Story
    from multilang_cli.topology.checkers.checker import CheckResult
    from multilang_cli.topology.checkers.losses import Account
    from multilang_cli.topology.checkers.measures import Measures
    from multilang_cli.topology.engine.ending import RunOutcome
    from multilang_cli.topology.engine.logged import LoggedProblem
    from multilang_cli.topology.engine.setup import Setup
    from multilang_cli.topology.engine.workers import TaskRun
    from multilang_cli.topology.history import Happening

MOST_GIVEN_UP = 3
"""Kinds of messages that a component gave up, of which its warning has the first."""
MOST_READ = 64 * 1024 * 1024
"""Bytes of a transcript that is read for causes."""
STDERR_SHOWN = 4096
"""Bytes of a task's last stderr that a result keeps."""
MOST_LOGGED = 5
"""Kinds of warnings and errors of components that are noted."""
MOST_RECOVERIES = 5
"""Faults of which it is noted when a tuple was acked again."""
MOST_STORIES = 3
"""Emissions whose story is told."""
RESULT = "result.json"
_PARTS = {"transcripts": "*.ndjson", "stderr": "*.txt"}


class FolderError(CommandError):
    """The folder of a run can't be used: the message says why."""


class TopologyRun(NamedTuple):
    """Result of a run. `tallies`: of each component, in the order of their declaration, the ackers left out.

    `held`: what its checkers say; `measures`: what its history shows in numbers; `account`: what became of all
    messages; `stories`: of emissions that were not acked, the worst first.
    """

    result: RunResult
    outcome: RunOutcome
    tallies: dict[str, Tally]
    held: tuple[CheckResult, ...]
    measures: Measures
    account: Account
    stories: tuple[Story, ...]


def prepare(folder: Path) -> None:
    """Make the folder of a run; what an earlier run left there is removed, and nothing else. Raises FolderError."""
    try:
        make_private(folder)
        with _alone(folder):
            left = _left(folder)
            if left and not (folder / HISTORY).exists():
                raise FolderError(f"{left[0]} is of no run of a topology; choose another folder (--record DIR)")
            for file in (*left, folder / HISTORY):
                file.unlink(missing_ok=True)
            for name in _PARTS:
                make_private(folder / name)
    except OSError as error:
        raise FolderError(f"a run can't be written to {folder}: {error.strerror} (--record DIR)") from None


def _left(folder: Path) -> list[Path]:
    """Files with the names that a run writes, but for its history, which tells that a run wrote it."""
    found = [file for name, files in _PARTS.items() for file in sorted((folder / name).glob(files))]
    return [*found, *folder.glob(RESULT)]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder of a run: two at once would be judged by each other's history. Raises FolderError."""
    held = os.open(folder, os.O_RDONLY)
    try:
        _lock(held, folder)
        yield
    finally:
        os.close(held)


def _lock(held: int, folder: Path) -> None:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FolderError(f"another run is being written to {folder}; choose another folder (--record DIR)") from None
    except OSError:
        return  # a file system without locks


def run_topology(
    setup: Setup,
    watch: Callable[[Engine], Callable[[Happening], object] | None] = lambda _: None,
    *,
    strict: bool = False,
) -> TopologyRun:
    """Run a topology in its folder, which `prepare` has made; the result is written there too.

    `watch`: given the engine before anything starts, makes a listener that is told each event. Raises LaunchError,
    FolderError if another run has the folder, and OSError if nothing can be written.
    """
    with ExitStack() as stack:
        stack.enter_context(_alone(setup.folder))
        return _run(_with_groupings(_with_queue(setup, stack), stack), watch, strict=strict)


def _with_queue(setup: Setup, stack: ExitStack) -> Setup:
    """Start the queue that a topology's conf asks for, and tell components where it is."""
    if QUEUED not in setup.conf:
        return setup
    told = setup.conf[QUEUED]
    server = stack.enter_context(QueueServer(told if isinstance(told, list) else [told]))
    return msgspec.structs.replace(setup, env={**setup.env, ADDRESS: server.address})


def _with_groupings(setup: Setup, stack: ExitStack) -> Setup:
    """Have Java asked by custom groupings, if there are any."""
    java = setup.topology.java
    if java is None or all(each.grouping.type != "CUSTOM" for each in setup.topology.subscriptions):
        return setup
    custom = stack.enter_context(CustomGroupings(java.chooser, setup.conf, setup.layout.components))
    return msgspec.structs.replace(setup, custom=custom)


def _run(setup: Setup, watch: Callable[[Engine], Callable[[Happening], object] | None], *, strict: bool) -> TopologyRun:
    began = datetime.now(UTC)
    listeners: list[Callable[[Happening], object]] = []
    engine = Engine(setup, listeners, acting=bool(setup.faults))
    injector = Injector(engine, setup.faults)
    with HistoryFile(setup.folder / HISTORY, setup.redactor()) as history:
        engine.keep = history.take_all
        if setup.faults:
            listeners.append(injector)
        if (listener := watch(engine)) is not None:
            listeners.append(listener)
        outcome = engine.run()
    judge, seen = Judge(facts_of(setup)), RiskScan(setup.topology)
    for event in read_history(setup.folder / HISTORY):
        judge.take(event)
        seen.take(event)
    held = judge.finish()
    notes = [str(each) for each in judge.measures.recoveries[:MOST_RECOVERIES]]
    told = any(each.id == "anchored" and each.verdict != "pass" for each in held)
    notes += [risk.text for risk in seen.risks() if risk.id != "unanchored" or not told]
    result = _result(setup, engine, outcome, began, (held, injector.spared, notes), strict=strict)
    write_whole(setup.folder / RESULT, to_json(result).encode(), private=True)
    concerned = [number for each in held for number in each.emissions] + judge.measures.failed_emissions
    tales = stories(read_history(setup.folder / HISTORY), concerned[:MOST_STORIES], setup.layout.components)
    return TopologyRun(result, outcome, _tallies(setup, engine), held, judge.measures, judge.account, tuple(tales))


def _tallies(setup: Setup, engine: Engine) -> dict[str, Tally]:
    found = {name: Tally() for name in setup.topology.components}
    for task, tally in engine.flow.tallies.items():
        if (name := setup.layout.components[task]) in found:
            found[name].add(tally)
    return found


def _result(
    setup: Setup,
    engine: Engine,
    outcome: RunOutcome,
    began: datetime,
    judged: tuple[tuple[CheckResult, ...], Mapping[object, int], Sequence[str]],
    *,
    strict: bool,
) -> RunResult:
    goal = setup.goal
    held, spared, notes = judged
    subjects = [_of_life(setup, life, spared.get(life.side)) for life in _lives(engine)]
    if engine.flow.spout_emissions:
        subjects += map(subject_of, held)
    logged = engine.flow.logged.all()
    subjects += _of_given_up(logged)
    result = RunResult(
        tool=Tool(version=__version__),
        suite=Suite(name="topology"),
        component=ComponentReport(name=setup.topology.name, command=(), why=f"{len(setup.layout.components)} tasks"),
        storm=setup.version.id,
        seed=setup.seed,
        started_at=began.isoformat(timespec="seconds"),
        duration=round(engine.now, 3),
        platform=platform_of(),
        strict=strict,
        subjects=(*subjects, _of_run(engine, outcome)),
        complete=not outcome.interrupted,
        limits={"messages": goal.messages or None, "seconds": goal.seconds or None, "idle": goal.idle},
        notes=(
            *([outcome.why] if outcome.why else []),
            *setup.worker_environment({}).notes,
            *[str(each) for each in logged if not each.given_up][:MOST_LOGGED],
            *notes,
        ),
    )
    circumstances = Circumstances(interrupted=outcome.interrupted, no_first_message=bool(outcome.silent))
    return _without_secrets(conclude(result, circumstances), setup)


def _lives(engine: Engine) -> list[TaskRun]:
    """Every life of every task, by task: those in which something was found, and the last of each."""
    found = [life for worker in engine.workers.values() for life in worker.past]
    return sorted(found, key=lambda life: (life.side.task, life.attempt))


class Diagnosis(NamedTuple):
    """The causes of what went wrong in a life of a task, and the few messages that tell of it."""

    causes: tuple[Cause, ...] = ()
    excerpt: tuple[ExcerptLine, ...] = ()


def _diagnosed(setup: Setup, life: TaskRun, findings: Sequence[Finding]) -> Diagnosis:
    """The diagnosis of what was found in a life of a task, as far as the last of its transcript tells."""
    try:
        if not findings or not setup.transcripts or life.transcript.stat().st_size > MOST_READ:
            return Diagnosis()
        profile = life.side.profile
        source = source_of(life.argv, life.cwd, profile.kind)
        recent = RecentEvents(profile, setup.rulebook, source=source, lines=user_lines_of(source))
        recent.take(read_transcript(life.transcript))
    except (OSError, TranscriptError):
        return Diagnosis()
    causes = recent.causes(findings)
    about = causes[0].seq if causes else None
    return Diagnosis(causes, excerpt_of(findings, numbered(recent.events), about=about))


def _of_life(setup: Setup, life: TaskRun, spared: int | None) -> SubjectResult:
    """One life of a task, as a subject. `spared`: how many of its findings are its own, where a fault struck it."""
    session = life.side.session
    findings = tuple(session.findings[:spared])
    verdict, reason = verdict_of(findings, setup.version.id)
    if session.pump.overflowed:
        verdict, reason = "untestable", "a message is longer than our limit; Storm has none"
    diagnosis = _diagnosed(setup, life, findings) if verdict in {"fail", "warn"} else Diagnosis()
    again = f" (its life {life.attempt})" if life.attempt > 1 else ""
    return SubjectResult(
        id=life.name,
        title=f"What {life.side.name} says{again}",
        kind="task",
        verdict=verdict,
        reason=reason,
        duration=round(session.now, 3),
        findings=findings,
        causes=diagnosis.causes,
        excerpt=diagnosis.excerpt,
        outlook=session.judge.outlook() if spared is None else (),
        stderr_tail=decode(session.process.stderr_tail[-STDERR_SHOWN:]),
        exit=Exit.of(session.own_end),
        transcript=str(life.transcript) if setup.transcripts else None,
    )


def _of_given_up(logged: Sequence[LoggedProblem]) -> Iterator[SubjectResult]:
    """Messages that components gave up, as a subject each: they are in no tree any more, so no checker misses them."""
    kinds: dict[str, list[LoggedProblem]] = {}
    for each in logged:
        if each.given_up:
            kinds.setdefault(each.component, []).append(each)
    for component, given_up in kinds.items():
        told = [f"{each.count:,} given up. The first: {each.first.removeprefix(GIVEN_UP)}" for each in given_up]
        more = len(told) - MOST_GIVEN_UP
        yield SubjectResult(
            id=f"given-up-{component}",
            title=f"What {component} reads is processed",
            kind="root",
            level="should",
            verdict="warn",
            reason="; ".join(told[:MOST_GIVEN_UP]) + (f"; {more} more kinds" if more > 0 else ""),
        )


def _of_run(engine: Engine, outcome: RunOutcome) -> SubjectResult:
    """The run itself, as a subject: it did something at all, and came to its end."""
    emitted = engine.flow.spout_emissions
    verdict, reason = verdict_of((), "")
    if outcome.gave_up:
        verdict, reason = "fail", outcome.why
    elif not emitted and not outcome.interrupted:
        verdict, reason = "untestable", "no spout emitted anything"
    return SubjectResult(
        id="run",
        title="The topology runs to its end",
        kind="run",
        verdict=verdict,
        reason=reason,
        expected="spouts emit, workers stay, what is under way is settled",
        duration=round(outcome.seconds, 3),
    )


def _without_secrets(result: RunResult, setup: Setup) -> RunResult:
    plain = encoded(msgspec.json.encode, result)
    clean = setup.redactor().text(plain)
    return result if clean == plain else msgspec.convert(json.loads(clean), RunResult, str_keys=True)
