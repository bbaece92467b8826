"""The cases of one run, played until the last or until going on is useless, and counted with what is known to fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.driver.launch import LaunchError
from multilang_cli.driver.scratch import scratch
from multilang_cli.reports.event_sentences import awaiting
from multilang_cli.reports.verdict import Circumstances, Judgement
from multilang_cli.subject.options import redactor_of
from multilang_cli.subject.recordings import unwritable
from multilang_cli.suite.case_result import our_fault
from multilang_cli.suite.cases.fitness import why_unfit
from multilang_cli.suite.cases.selection import fitting
from multilang_cli.suite.runner.case_run import CaseRun
from multilang_cli.suite.runner.jobs import Jobs
from multilang_cli.suite.runner.learned import Learned
from multilang_cli.suite.steps.settling import SUBJECT, subject_of
from multilang_cli.suite.verdict.baseline import FLAKY_RETRIES, apply, without_a_case
from multilang_cli.suite.verdict.repeats import Hang, Repeats
from multilang_cli.terminal.output import remark, remark_note

if TYPE_CHECKING:
    from collections.abc import Collection

    from multilang_cli.driver.script import WaitingFor
    from multilang_cli.driver.session import OnWait
    from multilang_cli.protocol.words.waits import Waits
    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.cases.case import Case
    from multilang_cli.suite.verdict.baseline import Baseline
    from multilang_cli.suite.verdict.refusals import Refused

Progress = Callable[[str, int, int], None]
"""Called before each case with its id, how many have begun before, and how many there are."""

TOLD_AFTER = 20.0
"""Seconds from which on a run tells at once what fails in it first: it may be stopped before its end."""
STOPS = frozenset({"fail", "stale", "flaky", "error"})
"""Verdicts after which -x goes no further."""


class PlayedCase(NamedTuple):
    """The outcome of a case, and whether the component ever said its first message in it. `hang`: where it hung."""

    subject: SubjectResult
    said_pid: bool
    hang: Hang | None = None


class Run:
    """The cases of one run and what has become of them so far.

    `cases`: those selected of the `available`. `known`: the failures that are known, perhaps none. `excused`: ids of
    known failures that may pass here, because they are met on another version. `learned`: what the cases have shown.
    """

    def __init__(self, checked: Subject, cases: list[Case], known: Baseline, available: list[Case]) -> None:
        self.subject = checked
        self.cases = cases
        self.known = known
        self.available = available
        self.excused: Collection[str] = ()
        self.circumstances = Circumstances()
        self.started = datetime.now(UTC)
        self.duration = 0.0
        self.notes: tuple[str, ...] = ()
        self.slow: Callable[[float], None] | None = None
        self._refused: dict[str, Refused] = {}
        self._done: dict[int, SubjectResult] = {}
        self._stopped = False
        self._failures = 0
        self._told = False
        self._has_said_pid = False
        self._begun = 0
        self._lock = threading.Lock()
        options = checked.options
        every = options.exhaustive or bool(checked.component.testee or options.write_known_failures)
        self._repeats = None if every else Repeats(checked.component.kind)
        self.learned = Learned(limited=not every)

    @property
    def subjects(self) -> tuple[SubjectResult, ...]:
        """The results of the cases that were played, in their order, as it counts with what is known to fail."""
        cases = tuple(self._counted(self._done[number]) for number in sorted(self._done))
        return (*cases, *map(self._counted, self._as_a_whole()))

    def _as_a_whole(self) -> tuple[SubjectResult, ...]:
        """The verdict on all cases together; that nothing is, where it is known to fail."""
        settling = self.learned.settling
        judgement = settling.judged(self.subject.component)
        if judgement is None and SUBJECT in self.known.entries and settling.settled:
            judgement = Judgement("pass", "")
        return () if judgement is None else (subject_of(judgement, list(self._done.values()), settling.failing),)

    @property
    def stale(self) -> set[str]:
        """The ids of known failures that are none here."""
        played = (*self._done.values(), *self._as_a_whole())
        return {each.id for each in played if self._applied(each).verdict == "stale"}

    @property
    def remaining(self) -> list[Case]:
        """The cases that were not played to their end."""
        return [case for number, case in enumerate(self.cases) if number not in self._done]

    @property
    def why_remaining(self) -> str:
        """The reason why some were not played."""
        if self.circumstances.no_first_message:
            return "the component did not answer the handshake"
        if not self._stopped:
            return "interrupted"
        if self.subject.options.fail_fast:
            return "stopped at the first failure (-x)"
        return f"stopped after {self.subject.options.max_fail} failures (--max-fail)"

    def go(self, progress: Progress | None) -> None:
        """Play the cases until one shows that going on is useless. Raises LaunchError."""
        began = time.monotonic()
        plays = [partial(self._play, case, progress) for case in self.cases]
        jobs = Jobs(plays, self.subject.options.jobs)
        try:
            with jobs:
                for number, played in enumerate(jobs):
                    self._done[number] = self._in_order(self.cases[number], played)
                    if progress is not None and time.monotonic() - began >= TOLD_AFTER:
                        self._tell_first_failure()
                    if self._is_last(self.cases[number], played, self._counted(self._done[number])):
                        break
            if self.subject.options.jobs > 1:
                # Cases that had begun when others made an end of the run leave no transcripts.
                for case in self.remaining:
                    (self.subject.record / f"{case.id}.ndjson").unlink(missing_ok=True)
        except KeyboardInterrupt:
            self.circumstances = Circumstances(interrupted=True)
            for number, played in jobs.finished.items():
                self._done.setdefault(number, played.subject)
        self.duration = round(time.monotonic() - began, 3)

    def _in_order(self, case: Case, played: PlayedCase) -> SubjectResult:
        """The result of a case after those before it, whichever were played at the same time."""
        if self._repeats is None or played.subject.same_cause:
            return played.subject
        with self._lock:
            return self._repeats.note(case, played.subject, played.hang)

    @property
    def whole(self) -> bool:
        """True if every case was played to its end."""
        return not (
            self.circumstances.interrupted or self.remaining or any(each.verdict == "error" for each in self.subjects)
        )

    def without_a_case(self) -> tuple[SubjectResult, ...]:
        """A stale subject for each known failure that is no case; none if only a part of the suite was selected."""
        options, component = self.subject.options, self.subject.component
        if options.include or options.exclude:
            return ()
        ids = {SUBJECT, *(case.id for case in fitting(self.available, component.kind))}
        return without_a_case(self.known, ids, component.kind)

    def _counted(self, subject: SubjectResult) -> SubjectResult:
        subject = self._judged(subject)
        counted = self._applied(subject)
        return subject if counted.verdict == "stale" and subject.id in self.excused else counted

    def _judged(self, subject: SubjectResult) -> SubjectResult:
        """The result of a case, seen with the others: who took a made-up tuple in one, is to blame in another.

        So is who dies of heartbeats alone, where one was unanswered as it died.
        """
        refused = self._refused.get(subject.id)
        if refused is None or subject.same_cause or subject.verdict != "untestable":
            return subject
        if refused.like not in self.learned.acked and not (refused.beating and self.learned.beaten):
            return subject
        verdict, reason = refused.otherwise
        return msgspec.structs.replace(subject, verdict=verdict, reason=reason, causes=refused.causes)

    def _applied(self, subject: SubjectResult) -> SubjectResult:
        return apply(
            self.known, self._judged(subject), strict=self.subject.options.strict, storm=self.subject.version.id
        )

    def _is_last(self, case: Case, played: PlayedCase, subject: SubjectResult) -> bool:
        """True if there is no use in going on."""
        self._has_said_pid = self._has_said_pid or played.said_pid
        if not played.said_pid and subject.verdict != "error" and not self._says_pid(case):
            self.circumstances = Circumstances(no_first_message=True)
            return True
        self._failures += subject.verdict in STOPS
        most = 1 if self.subject.options.fail_fast else self.subject.options.max_fail
        self._stopped = 0 < most <= self._failures
        return self._stopped

    def _tell_first_failure(self) -> None:
        """Tell on stderr, once, what failed first."""
        failed = () if self._told else (each for each in self.subjects if each.verdict == "fail")
        for subject in islice(failed, 1):
            self._told = True
            told = subject.causes[0].told if subject.causes else subject.reason
            remark(f"failed so far: {subject.id}: {redactor_of(self.subject.component).line(told)}")

    def _says_pid(self, case: Case) -> bool:
        """True if the component answers a plain handshake: then it is the case that it can't stand."""
        if not self._has_said_pid and case.steps[0] != ("handshake", {}):
            self._has_said_pid = CaseRun(self.subject, case).answers_plainly()
        return self._has_said_pid

    def _play(self, case: Case, progress: Progress | None) -> PlayedCase:
        with self._lock:
            begun, short = self._begun, None
            if progress is not None:
                progress(case.id, begun, len(self.cases))
            self._begun += 1
            if self._repeats is not None and not why_unfit(case, self.subject):
                if (repeated := self._repeats.repeated(case)) is not None:
                    return PlayedCase(repeated, True)
                short = self._repeats.short(case)

        def on_wait(waiting_for: WaitingFor, seconds: float, waits: Waits) -> None:
            """Tell of a wait that takes long."""
            if progress is not None:
                failed = f"{self._failures} failed; " if self._failures else ""
                awaited = awaiting(waiting_for, seconds, waits)
                progress(f"{failed}{case.id}: {awaited}", begun, len(self.cases))

        played = self._once(self.subject, case, short, on_wait)
        if short is not None and played.hang is not None and self._is_another(played.hang):
            played = self._once(self.subject, case, on_wait=on_wait)
        retries = self.subject.options.retries or (FLAKY_RETRIES if self.known.is_flaky(case.id) else 0)
        if played.subject.verdict == "fail" and retries:
            return self._again(case, played, retries)
        return played

    def _again(self, case: Case, first: PlayedCase, retries: int) -> PlayedCase:
        """Play a case that failed until it does not: then it is flaky. What is shown is the first run."""
        subject, said_pid = first.subject, first.said_pid
        with scratch(".again-", self.subject.record) as folder:
            checked = msgspec.structs.replace(self.subject, record=folder)
            for number in range(1, retries + 1):
                played = self._once(checked, case)
                said_pid = said_pid or played.said_pid
                if played.subject.verdict in {"pass", "warn"}:
                    reason = f"failed {number} of {number + 1} runs: {subject.reason}"
                    return PlayedCase(msgspec.structs.replace(subject, verdict="flaky", reason=reason), said_pid)
        return PlayedCase(subject, said_pid, first.hang)

    def _is_another(self, hang: Hang) -> bool:
        """True if a case that was to confirm a hang has shown another, for which the wait was too short."""
        with self._lock:
            return self._repeats is not None and not self._repeats.confirms(hang)

    def _once(
        self, checked: Subject, case: Case, short: float | None = None, on_wait: OnWait | None = None
    ) -> PlayedCase:
        """Play a case, and learn of it."""
        learned = self.learned
        run = CaseRun(checked, case, short, learned=learned)
        run.on_wait = on_wait
        try:
            subject = run.run()
            if run.refused is not None and run.refused.acked_first and run.refused.like not in learned.acked:
                # Who acks before it works, and dies of what it was fed, can't be told from who dies of the second.
                survives = CaseRun(checked, case).survives_one()
                run.acked |= {run.refused.like} if survives else frozenset()
            with self._lock:
                run.learn()
                if run.refused is not None:
                    self._refused[case.id] = run.refused
                if self.slow is not None and learned.settling.delay:
                    self.slow(learned.settling.delay)
                if run.unrecorded:
                    why = unwritable(self.subject.record, run.unrecorded)
                    if why not in self.notes:
                        remark_note(why)
                        self.notes = (*self.notes, why)
            return PlayedCase(subject, run.said_pid, run.hang)
        except LaunchError:
            raise
        except Exception as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                # What an interrupt left half done can fail when it is cleaned up; it is an interrupt all the same.
                raise KeyboardInterrupt from error
            return PlayedCase(our_fault(case, error, self.subject.record), run.said_pid)
