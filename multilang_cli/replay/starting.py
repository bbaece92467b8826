"""Start and end of ``mlcheck replay``: what is played to what, and what is shown of it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.driver.launch import LaunchError
from multilang_cli.replay.command_line import recording_of, wanted_of
from multilang_cli.replay.comparison import Side, compare
from multilang_cli.replay.recording import JudgedRecording, without_secrets_note
from multilang_cli.replay.replaying import Replayed, ReplayOptions, replay, replayed_to
from multilang_cli.replay.result import replay_result, result_of
from multilang_cli.reports.formats.registry import STDOUT
from multilang_cli.subject.declared import not_started, one_declared
from multilang_cli.subject.outputs import checked_reports, console_of, write_reports
from multilang_cli.subject.recordings import prepare_record, refuse_overwriting
from multilang_cli.subject.settings import Flags
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import stdout_may_close

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from multilang_cli.replay.comparison import Comparison
    from multilang_cli.replay.said import ComparisonOptions
    from multilang_cli.reports.formats.registry import Report
    from multilang_cli.reports.model import RunResult
    from multilang_cli.subject.subject import Subject

    TakeOver = Callable[[JudgedRecording, Subject, ReplayOptions, "ReplayFlags"], int]


class ReplayFlags(Flags, frozen=True, kw_only=True):
    """Options of the command, besides those of a component. `words`: the transcript, then the component's."""

    words: tuple[str, ...]
    ignore: tuple[str, ...] = ()
    comparing: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    real_time: bool = False
    until: str | None = None
    then: str | None = None
    source: str | None = None
    no_input: bool = False
    reports: tuple[str, ...] = ()
    quiet: bool = False
    color: str | None = None


def replay_given(flags: ReplayFlags, take_over: TakeOver) -> int:
    """Replay what the command line says. Raises CommandError.

    `take_over`: plays it and lets a person go on.
    """
    flags = msgspec.structs.replace(flags, command=flags.words[1:])
    reports, console = checked_reports(flags.reports), console_of(flags.color)
    recording = _until(recording_of("replay", flags.words[0]), flags.until)
    refuse_overwriting("replay", (each.path for each in reports), recording.files)
    wanted = wanted_of("replay", recording.profile, flags.ignore, flags.comparing, flags.key)
    if flags.then not in {None, "repl"}:
        raise CommandError(f"replay: --then {flags.then[:60]!r}: only `repl` can come then.")
    if flags.then and reports:
        raise CommandError(
            "replay: --then repl compares nothing, so there is no report: leave out --json and --report."
        )
    if flags.then is None and (flags.source is not None or flags.no_input):
        raise CommandError("replay: --source and --no-input are of the session that --then repl opens.")
    subject = subject_for("replay", flags, recording)
    path = _record(subject.record, recording)
    how = ReplayOptions(
        wanted=wanted,
        real_time=flags.real_time,
        until_finding=flags.until == "finding",
        until_event=flags.until not in {None, "finding"},
        record=path,
    )
    if flags.then:
        return take_over(recording, subject, how, flags)
    done = played("replay", recording, subject, how)
    compared = compared_with(recording, done, wanted)
    result = _result(recording, compared, subject, done, path)
    tell(compared, result, recording, reports, console, quiet=flags.quiet)
    return result.exit_code


def tell(
    compared: Comparison,
    result: RunResult,
    recording: JudgedRecording,
    reports: Sequence[Report],
    console: Console,
    *,
    quiet: bool,
) -> None:
    """Write the reports that were asked for, and show the comparison unless one of them takes stdout."""
    write_reports(reports, result, recording.rulebook)
    if all(each.path != STDOUT for each in reports):
        from multilang_cli.replay.screen import show  # noqa: PLC0415 (slow to import)

        with stdout_may_close():
            show(compared, result, console, quiet=quiet)


def _until(recording: JudgedRecording, until: str | None) -> JudgedRecording:
    if not any(event.channel == "in" for event in recording.events):
        raise CommandError(
            f"replay: {recording.path}: nothing was said to the component, so nothing can be played.",
            ExitCode.NOTHING_SELECTED,
        )
    if until in {None, "finding"}:
        return recording
    last = recording.events[-1].seq
    if not until.isdecimal() or not recording.events[0].seq <= int(until) <= last:
        raise CommandError(f"replay: --until {until[:60]!r}: expected the number of an event up to {last}, or finding.")
    return recording.until(int(until))


def subject_for(command: str, flags: Flags, recording: JudgedRecording) -> Subject:
    """The component of the command line or of mlcheck.toml, as the recording is played to it. Raises CommandError."""
    declared = one_declared(command, flags, before="TRANSCRIPT --")
    try:
        return replayed_to(declared, recording)
    except LaunchError as error:
        raise not_started(error, command) from None


def _record(folder: Path, recording: JudgedRecording) -> Path:
    """The place where this conversation is recorded: never over the recording itself. Raises CommandError."""
    path = folder / f"replay-{Path(recording.path).stem.removeprefix('replay-')}.ndjson"
    prepare_record(folder)
    same = path.exists() and any(path.samefile(each) for each in recording.files)
    return path.with_stem(f"{path.stem}-again") if same else path


def played(command: str, recording: JudgedRecording, subject: Subject, how: ReplayOptions) -> Replayed:
    """Play it. Raises CommandError."""
    try:
        return replay(recording, subject, how)
    except LaunchError as error:
        raise not_started(error, command) from None
    except OSError as error:
        raise CommandError(
            f"{error.filename or how.record}: the transcript can't be written: {error.strerror}."
        ) from None


def compared_with(recording: JudgedRecording, done: Replayed, wanted: ComparisonOptions) -> Comparison:
    """The comparison of what was played with the recording, as far as it was played."""
    then = recording if done.stopped_at is None else recording.until(done.stopped_at - 1)
    sides = Side.of(then.events, then.findings()), Side.of(done.events, done.findings)
    return compare(*sides, wanted, spout=recording.profile.kind == "spout")


def _result(
    recording: JudgedRecording, compared: Comparison, subject: Subject, done: Replayed, path: Path
) -> RunResult:
    notes = [without_secrets_note(recording, tuple(subject.component.conf)), *subject.surroundings]
    notes += [f"not sent: {what}{f', {times} times' if times > 1 else ''}" for what, times in done.left_out.items()]
    if done.in_vain:
        notes.append(f"{done.in_vain} answers were awaited in vain before Storm's side went on")
    if done.stopped_at is not None:
        notes.append(f"stopped before event {done.stopped_at} of the recording; what was said then is not compared")
    again = shlex.join(["mlcheck", "diff", recording.path, str(path)])
    result = result_of(
        "replay",
        recording,
        compared,
        argv=subject.launch.argv,
        notes=tuple(filter(None, notes)),
        transcript=str(path),
        next_command="" if compared.same else again,
    )
    return replay_result(result, recording, subject, done)
