"""Runs cases over a component: a fresh process for each, judged while it runs, summed up as a RunResult."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli import __version__
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.driver.launch import readable
from multilang_cli.protocol.judge.coverage import covered
from multilang_cli.reports.coverage import coverage_of
from multilang_cli.reports.machine import platform_of
from multilang_cli.reports.model import ComponentReport, CoverageReport, RunResult, Selection, Suite, Tool, Untested
from multilang_cli.reports.verdict import Circumstances, conclude
from multilang_cli.subject.options import DEFAULT_SAMPLE, Component, RunOptions, redactor_of
from multilang_cli.subject.recordings import prepare_record
from multilang_cli.subject.samples import declared_values, has_samples, named, sources_of, unfed
from multilang_cli.subject.source.sources import source_of, suspect_in
from multilang_cli.subject.subject import Subject
from multilang_cli.suite.cases.case import Case, load_cases
from multilang_cli.suite.cases.selection import SelectionError, select
from multilang_cli.suite.conditions import with_conditions
from multilang_cli.suite.runner.playing import Progress, Run
from multilang_cli.suite.steps.ticks import told, with_ticks
from multilang_cli.suite.verdict import known_failures
from multilang_cli.suite.verdict.baseline import Baseline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.reports.model import SubjectResult


def run_suite(component: Component, options: RunOptions, progress: Progress | None = None) -> RunResult:
    """Run the component suite; `component.kind` is bolt or spout (see ``probe`` for auto).

    Raises LaunchError if it can't be started, SelectionError if nothing is selected, CaseError for a bad case file,
    ConfigError for a bad file of known failures, RecordError. On KeyboardInterrupt the result so far is returned with
    `complete` False.
    """
    run = planned(Subject.of(component, options))
    run.go(progress)
    write_known_failures([run])
    return result_of(run)


def planned(checked: Subject) -> Run:
    """A run of which no case has been played. Raises what `run_suite` raises, but for LaunchError."""
    options = checked.options
    ticks = told(checked.component, real=options.real_ticks)
    component = with_ticks(checked.component, real=options.real_ticks)
    checked = msgspec.structs.replace(checked, component=component)
    available = available_for(component, options.suites)
    cases = select(available, component.kind, options.include, options.exclude)
    reads = component.known_failures and not options.write_known_failures
    known = known_failures.read(component.known_failures, checked.rulebook) if reads else Baseline("")
    prepare_record(checked.record)
    run = Run(checked, cases, known, available)
    run.notes = (ticks,) if ticks else ()
    return run


def available_for(component: Component, suites: tuple[str, ...]) -> list[Case]:
    """Every case that could be played: the component suite, users' own, and for a testee the library cases."""
    cases = load_cases("component", suites)
    if component.testee:
        cases += [case for case in load_cases("library") if case.testee == component.testee]
    return cases


def for_part(component: Component, options: RunOptions) -> RunOptions | None:
    """The options with those patterns that select a case of this part of a testee; None if none is selected."""
    cases = available_for(component, options.suites)

    def selects(*include: str, exclude: tuple[str, ...] = ()) -> bool:
        """True if these patterns leave a case of this part."""
        try:
            return bool(select(cases, component.kind, include, exclude))
        except SelectionError:
            return False

    include = tuple(pattern for pattern in options.include if selects(pattern))
    exclude = tuple(pattern for pattern in options.exclude if selects(pattern))
    if (options.include and not include) or not selects(*include, exclude=exclude):
        return None
    return msgspec.structs.replace(options, include=include, exclude=exclude)


def result_of(run: Run) -> RunResult:
    """The result of a run so far, concluded, and without secrets."""
    return _without_secrets(conclude(_result(run), run.circumstances), run.subject.component)


def write_known_failures(runs: Sequence[Run]) -> None:
    """If that is asked, write down what failed in runs on different versions, and count it as known from now on.

    What fails on any version is known on all. Raises ConfigError.
    """
    options = runs[0].subject.options
    name = options.write_known_failures
    if not name:
        return
    if not all(run.whole for run in runs):
        note = f"{name} was not written: not every case was played to its end"
    else:
        subjects = {run.subject.version.id: run.subjects for run in runs}
        known = known_failures.write(name, subjects, runs[0].subject.rulebook, strict=options.strict)
        note = f"known failures, written to {known.name}: {len(known.entries)}"
        for run in runs:
            run.known = known
            run.excused = known.entries.keys() if len(runs) > 1 else ()
    for run in runs:
        run.notes = (*run.notes, note)


def not_run(
    component: Component,
    options: RunOptions,
    circumstances: Circumstances,
    why: str,
    met: tuple[SubjectResult, ...] = (),
) -> RunResult:
    """The result for a component with which no case could be played: a note says `why`, `met` what was seen of it."""
    rulebook = load_rulebook(options.storm)
    version = rulebook.version(options.storm)
    result = RunResult(
        tool=Tool(version=__version__),
        suite=Suite(name="component"),
        component=ComponentReport(
            name=component.name,
            command=tuple(map(readable, component.command)),
            kind=None if component.kind == "auto" else component.kind,
        ),
        storm=version.id,
        seed=options.seed,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        platform=platform_of(),
        selection=Selection(include=options.include, exclude=options.exclude),
        strict=options.strict,
        complete=False,
        notes=(readable(why),),
        subjects=met,
    )
    return _without_secrets(conclude(result, circumstances), component)


def _without_secrets(result: RunResult, component: Component) -> RunResult:
    """The result as it may be shown: what a component printed of its conf or environment is hidden in it."""
    redactor = redactor_of(component)
    shown = msgspec.structs.replace(result.component, command=redactor.words(result.component.command))
    return redactor.struct(msgspec.structs.replace(result, component=shown))


def result_of_subjects(
    checked: Subject,
    suite: str,
    subjects: Sequence[SubjectResult],
    circumstances: Circumstances,
    *,
    started: datetime,
    duration: float,
    notes: tuple[str, ...],
) -> RunResult:
    """The result of testing a component in another way than by cases, concluded, and without secrets."""
    result = _about(checked, subjects, started)
    result = msgspec.structs.replace(
        result, suite=Suite(name=suite), duration=duration, subjects=tuple(subjects), notes=(*_notes(checked), *notes)
    )
    return _without_secrets(conclude(result, circumstances), checked.component)


def _result(run: Run) -> RunResult:
    """The result as it is known now; ``conclude`` fills in the rest."""
    options, remaining, learned = run.subject.options, run.remaining, run.learned
    subjects = with_conditions([learned.replays.without_contradiction(subject) for subject in run.subjects], run.cases)
    result = msgspec.structs.replace(
        _about(run.subject, subjects, run.started),
        suite=Suite(name="component", hash=suite_hash(run.available)),
        duration=run.duration,
        selection=Selection(
            include=options.include, exclude=options.exclude, available=len(run.available), selected=len(run.cases)
        ),
        subjects=(*subjects, *run.without_a_case()),
        complete=not remaining,
        notes=(*_notes(run.subject), *_unjudged(run), *run.notes),
        coverage=_coverage(run),
        emits=() if run.subject.component.testee else tuple(learned.settling.emits.values()),
        untested=(Untested(reason=run.why_remaining, ids=tuple(c.id for c in remaining)),) if remaining else (),
    )
    subject = run.subject
    source = source_of(subject.launch.argv, subject.cwd, subject.profile.kind)
    # What may be lost in production comes before how it was run.
    return result.observing(
        *learned.replays.observations(subject.component, partial(suspect_in, source)),
        *learned.settling.observations(run.subject.component),
        *learned.idle.observations,
    )


def _about(checked: Subject, subjects: Sequence[SubjectResult], started: datetime) -> RunResult:
    """The part of a result that every way of testing has; the last words are those of the last of `subjects`."""
    options = checked.options
    cases = [subject for subject in subjects if subject.kind != "run"]
    last = cases[-1] if cases else None
    profile = checked.profile
    return RunResult(
        tool=Tool(version=__version__),
        suite=Suite(name=""),
        component=ComponentReport(
            name=checked.component.name,
            command=tuple(_near(word) for word in checked.launch.argv),
            why="; ".join(filter(None, (checked.launch.why, checked.kind_told))),
            kind="spout" if checked.component.kind == "spout" else "bolt",
            cwd=readable(os.path.relpath(checked.cwd)),
            exit=last.exit if last else None,
            stderr_tail=last.stderr_tail if last else "",
        ),
        profile=msgspec.structs.replace(profile, samples=declared_values(checked.component)),
        storm=checked.version.id,
        seed=options.seed,
        started_at=started.isoformat(timespec="seconds"),
        platform=platform_of(),
        strict=options.strict,
        limits=dict(profile.limits),
    )


def _unjudged(run: Run) -> list[str]:
    """Notes on what could not be judged for want of a declaration."""
    if "metrics" in run.learned.seen and run.subject.component.metrics is None:
        return ["no metrics were declared: whether those that it sends are registered was not judged (metrics = {...})"]
    return []


def _coverage(run: Run) -> tuple[CoverageReport, ...]:
    """The coverage of all cases together; nothing if none was played."""
    profile, learned = run.subject.profile, run.learned
    if not learned.seen:
        return ()
    return (coverage_of("", profile.kind, covered(learned.seen, learned.broken, profile, run.subject.rulebook)),)


def _notes(checked: Subject) -> list[str]:
    component = checked.component
    notes = list(map(readable, checked.surroundings))
    if component.kind == "bolt":
        notes += _notes_on_samples(component)
    if component.streams is None and not component.testee:
        notes.append("no output streams were declared: streams and arity were not judged")
    if not checked.version.verified:
        notes.append(f"not confirmed for Storm {checked.version.id}: it was never asked")
    return notes


def _notes_on_samples(component: Component) -> list[str]:
    """Notes on samples that nobody declared, and on those that were declared and not fed."""
    if has_samples(component):
        return [f"nothing was fed from {named(each)}: there is no sample of it" for each in unfed(component)]
    fields = sources_of(component)[0].fields or ()
    unjudged = "; streams, arity and schemas of what it emits were not judged" if component.streams is not None else ""
    if component.sources:
        made_up = ", ".join(f"{named(each)} ({', '.join(each.fields or ())})" for each in sources_of(component))
        return [f"no samples were given: it was fed made-up tuples of {made_up}{unjudged}"]
    made_up = f"{list(component.made_up) or DEFAULT_SAMPLE} of the field{'s' * (len(fields) > 1)} `{', '.join(fields)}`"
    return [f"no samples were given: it was fed one made-up tuple, {made_up}{unjudged}"]


def _near(word: str) -> str:
    """A path below the working directory as its user would write it."""
    here = f"{Path.cwd()}{os.sep}"
    return readable(word.removeprefix(here))


def suite_hash(cases: Sequence[Any]) -> str:
    """A hash of everything the cases say, the same on every machine."""
    return hashlib.sha256(msgspec.json.encode(cases, order="deterministic")).hexdigest()[:16]
