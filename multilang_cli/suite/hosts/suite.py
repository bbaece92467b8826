"""All host cases over one host, summed up as a RunResult."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from multilang_cli import __version__
from multilang_cli.driver.launch import LaunchError, readable
from multilang_cli.reports.machine import platform_of
from multilang_cli.reports.model import ComponentReport, RunResult, Selection, SubjectResult, Suite, Tool, Untested
from multilang_cli.reports.verdict import Circumstances, conclude
from multilang_cli.subject.recordings import RecordError, prepare_record, unwritable
from multilang_cli.suite.case_result import our_fault
from multilang_cli.suite.cases.selection import matching
from multilang_cli.suite.hosts.case import load_host_cases
from multilang_cli.suite.hosts.run import HostRun
from multilang_cli.suite.runner.jobs import Jobs
from multilang_cli.suite.runner.playing import STOPS, Progress
from multilang_cli.suite.runner.suite_run import suite_hash
from multilang_cli.transcript.secrets import hide_words

if TYPE_CHECKING:
    from multilang_cli.suite.hosts.case import HostCase
    from multilang_cli.suite.hosts.run import HostPlan


class HostOptions(msgspec.Struct, frozen=True):
    """A choice of cases, and how they are played: patterns, `jobs` at a time, `fail_fast`: until one fails."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    jobs: int = 1
    strict: bool = False
    fail_fast: bool = False


def judge_host(plan: HostPlan, options: HostOptions, progress: Progress | None = None) -> RunResult:
    """Play the host cases that are wished for. On KeyboardInterrupt the result so far, with `complete` False.

    Raises LaunchError if the host can't be started, SelectionError if nothing is selected, RecordError.
    """
    available = load_host_cases()
    ids = matching([case.id for case in available], options.include, options.exclude, "host case", "host-cases")
    cases = [case for case in available if case.id in ids]
    prepare_record(plan.record)
    run = _Run(plan, cases, options)
    began, started = time.monotonic(), datetime.now(UTC)
    run.go(progress)
    result = RunResult(
        tool=Tool(version=__version__),
        suite=Suite(name="host", hash=suite_hash(available)),
        component=ComponentReport(
            command=tuple(map(readable, hide_words(plan.launch.argv))), why=plan.launch.why, cwd="."
        ),
        storm=plan.version.id,
        started_at=started.isoformat(timespec="seconds"),
        duration=round(time.monotonic() - began, 3),
        platform=platform_of(),
        strict=options.strict,
        selection=Selection(
            include=options.include, exclude=options.exclude, available=len(available), selected=len(cases)
        ),
        subjects=tuple(run.done[number] for number in sorted(run.done)),
        complete=len(run.done) == len(cases),
        notes=tuple(run.notes),
        untested=run.untested(),
    )
    return conclude(result, run.circumstances)


class _Run:
    """The cases of one run, and what has become of them."""

    def __init__(self, plan: HostPlan, cases: list[HostCase], options: HostOptions) -> None:
        self.done: dict[int, SubjectResult] = {}
        self.notes: dict[str, None] = {}
        self.circumstances = Circumstances()
        self._plan = plan
        self._cases = cases
        self._options = options
        self._begun = 0
        self._started = False

    def go(self, progress: Progress | None) -> None:
        """Play them until the last, or until going on is useless."""
        jobs = Jobs([partial(self._play, case, progress) for case in self._cases], self._options.jobs)
        try:
            with jobs:
                for number, subject in enumerate(jobs):
                    self.done[number] = subject
                    if not self._started and subject.verdict != "error":
                        self.circumstances = Circumstances(no_first_message=True)
                        break
                    if self._options.fail_fast and subject.verdict in STOPS:
                        break
        except KeyboardInterrupt:
            self.circumstances = Circumstances(interrupted=True)
            self.done |= {number: each for number, each in jobs.finished.items() if number not in self.done}

    def untested(self) -> tuple[Untested, ...]:
        """The cases that were not played."""
        left = tuple(case.id for number, case in enumerate(self._cases) if number not in self.done)
        why = "the host started no component" if self.circumstances.no_first_message else "stopped before"
        return (Untested(reason=why, ids=left),) if left else ()

    def _play(self, case: HostCase, progress: Progress | None) -> SubjectResult:
        if progress is not None:
            progress(case.id, self._begun, len(self._cases))
        self._begun += 1
        run = HostRun(self._plan, case)
        try:
            subject = run.run()
        except (LaunchError, RecordError):
            raise
        except Exception as error:  # noqa: BLE001 (it costs this case, not the run)
            return our_fault(case, error, self._plan.record)
        self._started = self._started or run.started
        if run.unrecorded:
            self.notes[unwritable(self._plan.record, run.unrecorded)] = None
        return subject
