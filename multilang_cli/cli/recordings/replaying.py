"""Start and end of ``mlcheck replay``: what is played to what, and what is shown of it."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.cli.options.replay_options import recording_of, wanted_of
from multilang_cli.cli.recordings.recorded import spare
from multilang_cli.cli.shared import checked_reports, console_of, write_reports
from multilang_cli.driver.environment import worker_environment
from multilang_cli.driver.launch import LaunchError, resolve
from multilang_cli.replay.comparison import Side, compare
from multilang_cli.replay.recording import JudgedRecording, without_secrets_note
from multilang_cli.replay.replaying import Replayed, ReplayOptions, ReplayTarget, replay
from multilang_cli.replay.result import replay_result, result_of
from multilang_cli.reports.formats.registry import STDOUT
from multilang_cli.subject import config as config_file
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.subject.profiles import profile_of
from multilang_cli.subject.settings import Flags, components, run_options, with_flags
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import stdout_may_close
from multilang_cli.transcript.private import make_private

if TYPE_CHECKING:
    from multilang_cli.replay.comparison import Comparison
    from multilang_cli.replay.said import ComparisonOptions
    from multilang_cli.reports.model import RunResult


class ReplayFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options that only this command has. `words`: the transcript, then the component's."""

    words: tuple[str, ...]
    ignore: list[str] | None = None
    comparing: list[str] | None = None
    key: list[str] | None = None
    real_time: bool = False
    until: str | None = None
    then: str | None = None
    reports: tuple[str, ...] = ()
    quiet: bool = False
    color: str | None = None


def replay_given(given: dict[str, Any]) -> int:
    """Replay what the command line says: values by the names of `Flags` and `ReplayFlags`. Raises CommandError."""
    asked = msgspec.convert(given, ReplayFlags)
    flags = msgspec.convert({**given, "command": asked.words[1:]}, Flags)
    reports, console = checked_reports(asked.reports), console_of(asked.color)
    recording = _until(recording_of("replay", asked.words[0]), asked.until)
    spare("replay", (each.path for each in reports), recording.files)
    wanted = wanted_of("replay", recording, asked.ignore, asked.comparing, asked.key)
    if asked.then not in {None, "repl"}:
        raise CommandError(f"replay: --then {asked.then[:60]!r}: only `repl` can come then.")
    component, options = chosen("replay", flags)
    target = target_of("replay", component, options, flags, recording)
    path = _record(Path(options.record), recording)
    how = ReplayOptions(
        wanted=wanted,
        real_time=asked.real_time,
        until_finding=asked.until == "finding",
        until_event=asked.until not in {None, "finding"},
        record=path,
    )
    if asked.then:
        from multilang_cli.cli.recordings.taking_over import take_over  # noqa: PLC0415 (seldom)

        return take_over(recording, target, how, options=options, component=component, when=asked.color)
    done = played("replay", recording, target, how)
    compared = compared_with(recording, done, wanted)
    result = _result(recording, compared, target, done, path)
    write_reports(reports, result, recording.rulebook)
    if all(each.path != STDOUT for each in reports):
        from multilang_cli.replay.shown import show  # noqa: PLC0415 (slow to import)

        with stdout_may_close():
            show(compared, result, console, quiet=asked.quiet)
    return result.exit_code


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


def chosen(command: str, flags: Flags) -> tuple[Component, RunOptions]:
    """The one component of the command line or of mlcheck.toml, and the settings. Raises CommandError."""
    try:
        config = config_file.load(config_file.find(Path.cwd()))
        found = components(flags, config)
        options = run_options(flags, os.environ, config)
    except ConfigError as error:
        raise CommandError(
            f"{command}: {str(error).replace('mlcheck run', f'mlcheck {command} TRANSCRIPT --')}"
        ) from None
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise CommandError(f"{command}: which component? --component NAME chooses one of {names}.")
    return found[0], options


def target_of(
    command: str, component: Component, options: RunOptions, flags: Flags, recording: JudgedRecording
) -> ReplayTarget:
    """The component that the recording is played to. Of its own conf only what was recorded without its value counts.

    Raises CommandError if it can't be started.
    """
    given = with_flags(Component(command=component.command), flags)
    secrets = {key: value for key, value in component.conf.items() if key in recording.redacted}
    kind = msgspec.structs.replace(component, kind=recording.profile.kind)
    usual = profile_of(kind, recording.version, options.timeout).limits
    limits = usual if options.timeout is not None else {**usual, **recording.profile.limits, **component.limits}
    cwd = Path(component.cwd or ".").absolute()
    conf = {**recording.profile.conf, **given.conf}
    worker = worker_environment(component.env, conf=conf, keep=component.keep_env, storm=recording.version.id)
    try:
        launch = resolve(component.command, cwd, worker.variables)
    except LaunchError as error:
        raise not_started(command, error) from None
    return ReplayTarget(
        argv=launch.argv,
        cwd=cwd,
        env=worker.variables,
        surroundings=worker.notes,
        why=launch.why,
        settings=component.env,
        conf={**secrets, **given.conf},
        limits=limits,
    )


def not_started(command: str, error: LaunchError) -> CommandError:
    """The reason why a component could not be started, as the command's end."""
    code = ExitCode.MISUSE if error.reason == "bad-cwd" else ExitCode.NO_FIRST_MESSAGE
    return CommandError(f"{command}: {error.message}{f' ({error.hint})' if error.hint else ''}", code)


def _record(folder: Path, recording: JudgedRecording) -> Path:
    """The place where this conversation is recorded: never over the recording itself. Raises CommandError."""
    path = folder / f"replay-{Path(recording.path).stem.removeprefix('replay-')}.ndjson"
    try:
        make_private(folder)
    except OSError as error:
        raise CommandError(f"transcripts can't be written to {folder}: {error.strerror} (--record DIR)") from None
    same = path.exists() and any(path.samefile(each) for each in recording.files)
    return path.with_stem(f"{path.stem}-again") if same else path


def played(command: str, recording: JudgedRecording, target: ReplayTarget, how: ReplayOptions) -> Replayed:
    """Play it. Raises CommandError."""
    try:
        return replay(recording, target, how)
    except LaunchError as error:
        raise not_started(command, error) from None
    except OSError as error:
        raise CommandError(f"{error.filename}: the transcript can't be written: {error.strerror}.") from None


def compared_with(recording: JudgedRecording, done: Replayed, wanted: ComparisonOptions) -> Comparison:
    """The comparison of what was played with the recording, as far as it was played."""
    then = recording if done.stopped_at is None else recording.until(done.stopped_at - 1)
    sides = Side(then.events, then.findings()), Side(done.events, done.findings)
    return compare(*sides, wanted, spout=recording.profile.kind == "spout")


def _result(
    recording: JudgedRecording, compared: Comparison, target: ReplayTarget, done: Replayed, path: Path
) -> RunResult:
    notes = [without_secrets_note(recording, tuple(target.conf)), *target.surroundings]
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
        argv=target.argv,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=tuple(filter(None, notes)),
        transcript=str(path),
        next_command="" if compared.same else again,
    )
    return replay_result(result, recording, target, done)
