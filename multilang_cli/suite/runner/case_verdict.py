"""The result of one case: a verdict on what was played, and what explains it."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.causes.facts import Known, said_in_time
from multilang_cli.driver.launch import readable
from multilang_cli.driver.memory import shown
from multilang_cli.judging.excerpts import excerpt_of
from multilang_cli.reports.escape import decode
from multilang_cli.reports.model import Exit, SubjectResult, Verdict
from multilang_cli.reports.verdict import Judgement, verdict_of
from multilang_cli.subject.options import redactor_of
from multilang_cli.subject.samples import has_samples
from multilang_cli.suite.case_result import case_result
from multilang_cli.suite.verdict.causes import causes_of
from multilang_cli.suite.verdict.refusals import (
    Refused,
    died_of_a_heartbeat,
    refusal_of,
    refused_sample,
    why_refused,
    without_overflows,
)

if TYPE_CHECKING:
    from multilang_cli.driver.memory import TooMuchMemoryError
    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.reports.model import ExcerptLine
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.cases.case import Case
    from multilang_cli.suite.runner.learned import Learned
    from multilang_cli.suite.runner.watch import Watch
    from multilang_cli.suite.steps.settling import FedTuples
    from multilang_cli.suite.steps.stage import Stage
    from multilang_cli.suite.verdict.causes import LastWords

STDERR_SHOWN = 16 * 1024
"""Bytes of a component's last stderr that a result keeps, but for a line that is cut."""


class CaseEnd(NamedTuple):
    """A case that was played to its end, to be judged.

    `feed`: what became of the tuples that it was fed. `last`: what it said once its stdin was closed. `missing`: the
    verdict if the case could not be exercised. `too_much`: the memory for which it was killed.
    """

    session: Session
    watch: Watch
    stage: Stage | None
    feed: FedTuples
    last: LastWords
    missing: Judgement | None
    too_much: TooMuchMemoryError | None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that was found."""
        return tuple(self.session.findings)


class CaseVerdict:
    """The verdict on one case, which begins now.

    After `judged`: `refused`: the result that counts if the component takes in another case what it refused here; None
    if it refused nothing. `beaten`: it died of a heartbeat before it was fed anything. `failing`: the result to show
    where no finding tells why tuples were failed.
    """

    def __init__(self, subject: Subject, case: Case, learned: Learned) -> None:
        self.subject, self.case, self.learned = subject, case, learned
        self.refused: Refused | None = None
        self.failing: SubjectResult | None = None
        self.beaten = False
        self._began = time.monotonic()

    def judged(self, end: CaseEnd) -> SubjectResult:
        """The result of what was played, with the causes behind it."""
        self.beaten = died_of_a_heartbeat(end.findings, end.watch, end.feed.fed)
        refusal = refusal_of(self.case, end.stage, end.findings, end.watch)
        findings = end.findings if refusal is not None else without_overflows(end.findings, end.stage)
        verdict, reason = self._verdict(end, findings, refusal)
        if refusal is not None and verdict == "skip":
            return self.result(verdict, reason)
        result = self.result(verdict, reason, end, findings)
        if end.feed.refused and not findings and self.learned.settling.failing is None:
            self.failing = self._explained(result, end, ())
        overflowed = end.session.pump.overflowed
        if verdict in {"pass", "skip"} or not (findings or end.too_much or self.refused) or overflowed:
            return result
        return self._explained(result, end, () if end.too_much else findings)

    def _verdict(self, end: CaseEnd, findings: tuple[Finding, ...], refusal: Judgement | None) -> Judgement:
        """The verdict, and the first reason for it: our limits, a refusal, what was found, what was not exercised."""
        if end.too_much:
            return Judgement("untestable", f"{end.too_much}, and was killed (--memory SIZE allows more)")
        if end.session.pump.overflowed:
            reason = "a message is longer than our limit (--limit frame=BYTES); Storm has none"
            return Judgement("untestable", reason)
        if refusal is not None:
            return refusal
        judgement = verdict_of(findings, self.subject.version.id, self._broken_promise(end.watch, findings))
        component = self.subject.component
        if like := refused_sample(component, end.stage, findings, end.watch):
            beating = end.session.own_end is not None and end.watch.beats > 0
            acked_first = like == end.watch.last_acked
            self.refused = Refused(like, judgement, beating=beating, acked_first=acked_first)
            return Judgement("untestable", why_refused(component, end.session, end.watch))
        return end.missing if end.missing and judgement.verdict == "pass" else judgement

    def _broken_promise(self, watch: Watch, findings: tuple[Finding, ...]) -> str:
        """The breach of what no component may do, or of what it was declared to do; "" for neither."""
        if watch.stopped:
            return "the process stopped itself by a signal, and does nothing more"
        unsettled = next((finding for finding in findings if finding.rule == "tuple-unsettled"), None)
        settles = self.subject.component.settles
        if unsettled is None or (settles in {"", "unchecked"} and "ticks" not in self.case.accepts):
            return ""
        declared = f"settles = {settles!r}" if settles else "accepts = ['ticks']"
        return f"{unsettled.message}, although {declared} is declared"

    def _explained(self, result: SubjectResult, end: CaseEnd, findings: tuple[Finding, ...]) -> SubjectResult:
        """The result with the causes of what was found, or of what it shows without any finding."""
        known = Known(
            made_up=result.verdict == "untestable" and not has_samples(self.subject.component),
            answers=self.learned.answers,
            forgets=self.learned.forgets,
            held=shown(end.too_much.held) if end.too_much else "",
            batch=self.learned.settling.batch,
        )
        causes = causes_of(self.subject, end.session, end.watch, findings, last=end.last, known=known)
        if self.refused is not None:
            self.refused = self.refused._replace(causes=causes_of(self.subject, end.session, end.watch, findings))
        about, events = causes[0].seq if causes else None, end.watch.events
        if about is None and causes and not findings:
            about = max((seq for seq, event in events.items() if event.channel in {"in", "out"}), default=None)
        stderr = said_in_time(result.stderr_tail, events, end.watch.sizes, about)
        excerpt = self._excerpt(findings, end.watch, about)
        return msgspec.structs.replace(result, causes=causes, excerpt=excerpt, stderr_tail=stderr)

    def _excerpt(
        self, findings: tuple[Finding, ...], watch: Watch, about: int | None = None
    ) -> tuple[ExcerptLine, ...]:
        return excerpt_of(findings, watch.events, redactor_of(self.subject.component), about)

    def result(
        self, verdict: Verdict, reason: str, end: CaseEnd | None = None, findings: tuple[Finding, ...] = ()
    ) -> SubjectResult:
        """The result of a case that is over; without `end`, of one that was not played or does not count."""
        case, session = self.case, end.session if end is not None else None
        return case_result(
            case,
            verdict,
            reason,
            duration=round(time.monotonic() - self._began, 4),
            findings=findings,
            outlook=session.judge.outlook() if session is not None else (),
            excerpt=self._excerpt(findings, end.watch) if end is not None and verdict not in {"pass", "skip"} else (),
            stderr_tail=decode(_whole_lines(session.process.stderr_tail)) if session is not None else "",
            exit=Exit.of(session.own_end) if session is not None else None,
            reproduce=readable(shlex.join([*self.subject.options.reproduce, "-k", case.id, *self._named()])),
        )

    def _named(self) -> list[str]:
        """The component at the end of a command line; a testee is named by its folder, before."""
        component = self.subject.component
        return [] if component.testee else ["--", *redactor_of(component).words(component.command)]


def at_fault(result: SubjectResult, version: str, fault: str) -> SubjectResult:
    """The result where we said what no Storm says: whatever came of it is not the component's."""
    reason = f"a fault of mlcheck's own: it said what Storm {version} does not ({fault})"
    return msgspec.structs.replace(result, verdict="error", reason=f"{reason}; please report it with the transcript")


def _whole_lines(stderr: bytes) -> bytes:
    """The last of what was written, from the beginning of a line on, if one begins there."""
    if len(stderr) <= STDERR_SHOWN:
        return stderr
    kept = stderr[-STDERR_SHOWN:]
    return kept.partition(b"\n")[2] or kept
