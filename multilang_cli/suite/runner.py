"""Runs cases over a component: a fresh process for each, judged while it runs, summed up as a RunResult."""

from __future__ import annotations

import hashlib
import os
import platform
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from multilang_cli import __version__
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.host.launch import Launch, LaunchError, environment, readable, resolve
from multilang_cli.protocol.rulebook import Rulebook
from multilang_cli.protocol.verdicts import StormVersion
from multilang_cli.reports.model import Component as ComponentReport
from multilang_cli.reports.model import RunResult, Selection, SubjectResult, Suite, Tool, Untested
from multilang_cli.reports.verdict import Circumstances, conclude
from multilang_cli.suite.case import Case, load_cases, select
from multilang_cli.suite.case_run import CaseRun
from multilang_cli.suite.options import DEFAULT_SAMPLE, Component, RunOptions
from multilang_cli.suite.profiles import profile_of
from multilang_cli.transcript.redact import Redactor

Progress = Callable[[str, int, int], None]
"""Called before each case with its id, how many are done, and how many there are."""


class RecordError(ValueError):
    """The directory for transcripts can't be used: the message says why."""


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
    """Run the component suite; `component.kind` is bolt or spout (see ``probe`` for auto).

    Raises LaunchError if it can't be started, SelectionError if nothing is selected, CaseError for a bad case file,
    RecordError. On
    KeyboardInterrupt the result so far is returned with `complete` False.
    """
    plan = plan_of(component, options)
    available = load_cases("component", options.suites)
    cases = select(available, component.kind, options.include, options.exclude)
    _prepare(plan.record)
    run = _Run(plan, cases)
    run.go(progress)
    return _without_secrets(conclude(run.result(available), run.befell), component)


def _prepare(record: Path) -> None:
    try:
        record.mkdir(parents=True, exist_ok=True)
        probe = record / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise RecordError(f"transcripts can't be written to {record}: {error.strerror} (--record DIR)") from None


def _without_secrets(result: RunResult, component: Component) -> RunResult:
    """The result as it may be shown: what a component printed of its conf or environment is hidden in it."""
    plain = msgspec.json.encode(result)
    clean = Redactor({**component.conf, **component.env}).text(plain)
    return result if clean == plain else msgspec.json.decode(clean, type=RunResult)


class _Run:
    """The cases of one run and what has become of them so far."""

    def __init__(self, plan: Plan, cases: list[Case]) -> None:
        self.plan = plan
        self.cases = cases
        self.subjects: list[SubjectResult] = []
        self.befell = Circumstances()
        self.started = datetime.now(UTC)
        self.clock = time.monotonic()
        self.stopped = False
        self._has_shaken = False

    def go(self, progress: Progress | None) -> None:
        """Run case after case until one shows that going on is useless."""
        try:
            for number, case in enumerate(self.cases):
                if progress is not None:
                    progress(case.id, number, len(self.cases))
                run = CaseRun(self.plan, case)
                subject = self._run(run, case)
                self.subjects.append(subject)
                self._has_shaken = self._has_shaken or run.shaken
                if not run.shaken and subject.verdict != "error" and not self._shakes(case):
                    self.befell = Circumstances(no_first_message=True)
                    return
                if self.plan.options.fail_fast and subject.verdict in {"fail", "stale", "error"}:
                    self.stopped = True
                    return
        except KeyboardInterrupt:
            self.befell = Circumstances(interrupted=True)

    def _shakes(self, case: Case) -> bool:
        """True if the component answers a plain handshake: then it is the case that it can't stand."""
        if not self._has_shaken and case.steps[0] != ("handshake", {}):
            self._has_shaken = CaseRun(self.plan, case).answers_plainly()
        return self._has_shaken

    def _run(self, run: CaseRun, case: Case) -> SubjectResult:
        """Run one case; a fault of ours costs this case, not the run."""
        try:
            return run.run()
        except LaunchError:
            raise
        except Exception as error:  # noqa: BLE001 (whatever it is, it is written down and told)
            path = self.plan.record / f"{case.id}.fault.txt"
            path.write_text(traceback.format_exc(), encoding="utf-8", errors="backslashreplace")
            reason = f"a fault of mlcheck's own ({type(error).__name__}: {error}); please report it with {path}"
            return SubjectResult(id=case.id, title=case.title, level=case.level, verdict="error", reason=reason)

    def result(self, available: list[Case]) -> RunResult:
        """What is known now; ``conclude`` fills in the rest."""
        plan, options = self.plan, self.plan.options
        remaining = self.cases[len(self.subjects) :]
        last = self.subjects[-1] if self.subjects else None
        return RunResult(
            tool=Tool(version=__version__),
            suite=Suite(name="component", hash=suite_hash(available)),
            component=ComponentReport(
                command=tuple(_near(word) for word in plan.launch.argv),
                why=plan.launch.why,
                kind="spout" if plan.component.kind == "spout" else "bolt",
                cwd=readable(os.path.relpath(plan.cwd)),
                exit=last.exit if last else None,
                stderr_tail=last.stderr_tail if last else "",
            ),
            profile=profile_of(plan.component, plan.version, options.timeout),
            storm=plan.version.id,
            seed=options.seed,
            started_at=self.started.isoformat(timespec="seconds"),
            duration=round(time.monotonic() - self.clock, 3),
            platform={
                "system": f"{platform.system()} {platform.release()}",
                "machine": platform.machine(),
                "python": platform.python_version(),
            },
            selection=Selection(
                include=options.include, exclude=options.exclude, available=len(available), selected=len(self.cases)
            ),
            strict=options.strict,
            subjects=tuple(self.subjects),
            complete=not remaining,
            limits={"timeout": options.timeout, **plan.component.limits},
            notes=tuple(self._notes()),
            untested=(Untested(reason=self._why_remaining(), ids=tuple(c.id for c in remaining)),) if remaining else (),
        )

    def _why_remaining(self) -> str:
        if self.befell.no_first_message:
            return "the component did not answer the handshake"
        return "stopped at the first failure (-x)" if self.stopped else "interrupted"

    def _notes(self) -> list[str]:
        component = self.plan.component
        notes = []
        if component.kind == "bolt" and not component.samples:
            notes.append(
                f"no samples were given: it was fed one made-up tuple, {DEFAULT_SAMPLE} of the field `sentence`"
            )
        if component.streams is None:
            notes.append("no output streams were declared: streams and arity were not judged")
        if not self.plan.version.verified:
            notes.append(f"Storm {self.plan.version.id} is known from documents only, it was never run")
        return notes


def _near(word: str) -> str:
    """A path below the working directory as its user would write it."""
    here = f"{Path.cwd()}{os.sep}"
    return readable(word.removeprefix(here))


def suite_hash(cases: list[Case]) -> str:
    """A hash of everything the cases say, the same on every machine."""
    return hashlib.sha256(msgspec.json.encode(cases, order="deterministic")).hexdigest()[:16]
