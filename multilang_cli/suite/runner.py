"""Runs cases over a component: a fresh process for each, judged while it runs, summed up as a RunResult."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from multilang_cli import __version__
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.host.launch import Launch, environment, resolve
from multilang_cli.protocol.rulebook import Rulebook
from multilang_cli.protocol.verdicts import FATAL, Outlook, StormVersion
from multilang_cli.reports.model import RunResult, SubjectResult
from multilang_cli.reports.verdict import run_verdict
from multilang_cli.suite.case import Case, load_cases, select
from multilang_cli.suite.case_run import CaseRun
from multilang_cli.suite.options import DEFAULT_SAMPLE, Component, RunOptions

Progress = Callable[[str, int, int], None]
"""Called before each case with its id, how many are done, and how many there are."""


class Plan(msgspec.Struct, frozen=True):
    """Everything that is the same for all cases of a run."""

    component: Component
    options: RunOptions
    version: StormVersion
    rulebook: Rulebook
    launch: Launch
    cwd: Path
    env: dict[str, str]
    record: Path


def plan_of(component: Component, options: RunOptions) -> Plan:
    """Work out how the component is started and judged. Raises LaunchError, KeyError for an unknown Storm version."""
    rulebook = load_rulebook()
    version = rulebook.version(options.storm) if options.storm else rulebook.newest
    cwd = Path(component.cwd or ".").absolute()
    env = environment(component.env)
    launch = resolve(component.command, cwd, env)
    return Plan(component, options, version, rulebook, launch, cwd, env, Path(options.record))


def run_suite(component: Component, options: RunOptions, progress: Progress | None = None) -> RunResult:
    """Run the component suite. Raises LaunchError if it can't be started, SelectionError if nothing is selected.

    A component of kind "auto" is refused here: see `suite.probe`. On KeyboardInterrupt the result so far is returned with
    `complete` False.
    """
    plan = plan_of(component, options)
    cases = select(load_cases("component", options.suites), component.kind, options.include, options.exclude)
    started, clock = datetime.now(UTC), time.monotonic()
    subjects: list[SubjectResult] = []
    complete = interrupted = False
    shaken = True
    try:
        for number, case in enumerate(cases):
            if progress is not None:
                progress(case.id, number, len(cases))
            run = CaseRun(plan, case)
            subject = run.run()
            subjects.append(subject)
            shaken = run.shaken
            if not shaken or (options.fail_fast and subject.verdict in {"fail", "stale", "error"}):
                break
        else:
            complete = True
    except KeyboardInterrupt:
        interrupted = True
    remaining = cases[len(subjects) :]
    return _summed_up(plan, subjects, remaining, started, time.monotonic() - clock, complete, interrupted, shaken)


def _summed_up(
    plan: Plan,
    subjects: list[SubjectResult],
    remaining: list[Case],
    started: datetime,
    duration: float,
    complete: bool,
    interrupted: bool,
    shaken: bool,
) -> RunResult:
    options, component = plan.options, plan.component
    verdict = run_verdict(subjects, strict=options.strict, started=shaken, interrupted=interrupted)
    last = subjects[-1] if subjects else None
    return RunResult(
        tool={"name": "mlcheck", "version": __version__},
        suite={"name": "component", "hash": suite_hash(plan.rulebook)},
        component={
            "name": component.name or component.kind,
            "kind": component.kind,
            "command": list(plan.launch.argv),
            "why": plan.launch.why,
            "cwd": os.path.relpath(plan.cwd),
            "stderr_tail": last.stderr_tail if last else "",
        },
        profile=_profile_summary(component),
        storm=plan.version.id,
        seed=options.seed,
        started_at=started.isoformat(timespec="seconds"),
        duration=round(duration, 3),
        platform=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        selection={"include": list(options.include), "exclude": list(options.exclude)},
        subjects=tuple(subjects),
        counts=verdict.counts,
        outlook=worst_outlooks(plan.rulebook, subjects),
        verdict=verdict.verdict,
        exit_code=verdict.exit_code,
        complete=complete,
        limits={"timeout": options.timeout, **component.limits},
        notes=tuple(_notes(plan, remaining, shaken)),
        untested=_untested(subjects, remaining),
    )
