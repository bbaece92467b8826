"""A comparison as a RunResult: a subject for the conversation, and one for each message that changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from multilang_cli import __version__
from multilang_cli.driver.launch import readable
from multilang_cli.replay.replaying import profile_now
from multilang_cli.replay.sentences import end_text, lines_of, reason_of, summary_of, title_of, turned_text
from multilang_cli.reports.escape import decode
from multilang_cli.reports.machine import platform_of
from multilang_cli.reports.model import ComponentReport, Exit, RunResult, SubjectResult, Suite, Tool
from multilang_cli.reports.verdict import Circumstances, conclude
from multilang_cli.transcript.secrets import hide_words

if TYPE_CHECKING:
    from multilang_cli.replay.comparison import Comparison
    from multilang_cli.replay.recording import JudgedRecording
    from multilang_cli.replay.replaying import Replayed
    from multilang_cli.reports.model import Verdict
    from multilang_cli.subject.subject import Subject

REPORTED_DIFFERENCES = 200
"""Differences that a report lists; of more, the number is given."""


def result_of(
    name: str,
    recording: JudgedRecording,
    comparison: Comparison,
    *,
    argv: tuple[str, ...],
    notes: tuple[str, ...] = (),
    transcript: str | None = None,
    next_command: str = "",
    damage: str = "",
) -> RunResult:
    """Result of a comparison, not yet concluded. `name`: of the command; `argv`: of the component that speaks now.

    `damage`: what is lost of the other recording, if there is one; that of `recording` counts as well.
    """
    lost = (recording.damage or damage) and comparison.may_be_loss(then=bool(recording.damage), now=bool(damage))
    damage = f"{recording.path}: {recording.damage}" if recording.damage else damage
    subjects = [_conversation(recording, comparison, transcript, damage, lost=bool(lost))]
    for number, difference in enumerate(comparison.differences[:REPORTED_DIFFERENCES], 1):
        subjects.append(
            SubjectResult(
                id=f"difference-{number}",
                title=title_of(difference),
                kind="difference",
                verdict="untestable" if lost else "fail",
                reason=reason_of(difference),
                excerpt=lines_of(difference),
            )
        )
    more = len(comparison.differences) - REPORTED_DIFFERENCES
    said = [*recording.notes, *comparison.notes, *notes]
    if more > 0:
        said.append(f"{more} more differences are not listed")
    return RunResult(
        tool=Tool(version=__version__),
        suite=Suite(name=name),
        component=ComponentReport(command=tuple(map(readable, hide_words(argv))), kind=recording.profile.kind),
        profile=recording.profile,
        storm=recording.profile.storm,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        platform=platform_of(),
        subjects=tuple(subjects),
        notes=tuple(said),
        complete=not damage,
        next_command=next_command,
    )


def _conversation(
    recording: JudgedRecording, comparison: Comparison, transcript: str | None, damage: str, *, lost: bool
) -> SubjectResult:
    """The subject for all of it. `lost`: what differs may be what is lost of one."""
    reasons = [turned_text(turned) for turned in comparison.findings]
    reasons += filter(None, (comparison.input, end_text(comparison)))
    if comparison.differences:
        reasons.append(summary_of(comparison))
    verdict: Verdict = "pass" if comparison.same else "fail"
    if comparison.same and (comparison.silent or (recording.past is not None and not comparison.compared)):
        verdict, reasons = "untestable", ["the recording holds nothing that the component said, or can say again"]
    elif comparison.same and damage:
        verdict, reasons = "untestable", [f"the same as far as it can be compared; {damage}"]
    elif lost:
        told = summary_of(comparison)
        verdict, reasons = "untestable", [f"nothing differs but what may be lost of one ({told}); {damage}"]
    return SubjectResult(
        id=recording.header.conv,
        title=f"{recording.profile.kind} {recording.profile.component}, as in {recording.path}",
        kind="conversation",
        verdict=verdict,
        reason=reasons[0] if reasons else "",
        findings=tuple(turned.finding for turned in comparison.findings if turned.change == "new"),
        transcript=transcript,
    )


def replay_result(result: RunResult, recording: JudgedRecording, subject: Subject, done: Replayed) -> RunResult:
    """The concluded result of a replay: with what is known of the process of now."""
    first = msgspec.structs.replace(
        result.subjects[0],
        duration=round(done.duration, 4),
        outlook=done.outlook,
        stderr_tail=decode(done.stderr_tail) if result.subjects[0].verdict != "pass" else "",
        exit=Exit.of(done.exit),
    )
    component = msgspec.structs.replace(
        result.component, why=subject.launch.why, exit=first.exit, stderr_tail=decode(done.stderr_tail)
    )
    said_then = any(event.channel == "out" for event in recording.events)
    circumstances = Circumstances(
        interrupted=done.interrupted,
        no_first_message=said_then and not done.said_pid and not done.interrupted,
    )
    whole = msgspec.structs.replace(
        result,
        subjects=(first, *result.subjects[1:]),
        component=component,
        duration=round(done.duration, 3),
        limits=dict(profile_now(recording, subject).limits),
    )
    return conclude(whole, circumstances)
