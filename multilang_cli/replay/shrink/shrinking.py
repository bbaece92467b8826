"""Start and end of ``mlcheck shrink``."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.driver.launch import LaunchError
from multilang_cli.replay.command_line import finding_in, recording_of
from multilang_cli.replay.shrink.shrinker import Shrinker, Shrunk
from multilang_cli.replay.starting import subject_for
from multilang_cli.reports.counting import counted
from multilang_cli.subject.declared import not_started
from multilang_cli.subject.outputs import write_json
from multilang_cli.subject.recordings import refuse_overwriting
from multilang_cli.subject.settings import Flags
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import remark, remark_note, write

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Finding

_ERASE = "\r\x1b[K"


class ShrinkFlags(Flags, frozen=True, kw_only=True):
    """Options of the command, besides those of a component."""

    words: tuple[str, ...]
    output: Path
    finding: str = ""
    again: int = 0
    quiet: bool = False
    as_json: bool = False


def shrink_given(flags: ShrinkFlags) -> int:
    """Shrink what the command line says. Raises CommandError."""
    output, flags = flags.output, msgspec.structs.replace(flags, command=flags.words[1:])
    recording = recording_of("shrink", flags.words[0])
    refuse_overwriting("shrink", [output], recording.files)
    if output.is_dir():
        raise CommandError(f"shrink: -o {output}: that is a directory; name a file in it.")
    if output.exists() and not output.is_file():
        raise CommandError(f"shrink: -o {output}: that is no file, and the shortest takes the place of one.")
    wrong = finding_in("shrink", recording, flags.finding)
    subject = subject_for("shrink", flags, recording)
    for note in subject.surroundings:
        remark_note(note)
    unit = "command" if recording.profile.kind == "spout" else "tuple"
    shows = None if flags.quiet else _Progress(unit)
    shrinker = Shrinker(recording, subject, wrong, output, retries=flags.again, progress=shows)
    try:
        shrunk = shrinker.run()
    except LaunchError as error:
        raise not_started(error, "shrink") from None
    except OSError as error:
        raise CommandError(f"shrink: {output}: can't be written: {error.strerror}.") from None
    finally:
        if shows is not None:
            shows.end()
    _check_shown(shrunk, wrong)
    if flags.as_json:
        write_json({"output": str(output), "rule": wrong.rule, "unit": unit, **shrunk._asdict(), "next": _next(output)})
    else:
        _tell(shrunk, wrong, output, unit)
    if not shrunk.complete:
        remark("Interrupted: it may not be the shortest.")
        return ExitCode.INTERRUPTED
    return ExitCode.CONFORMANT


def _check_shown(shrunk: Shrunk, wrong: Finding) -> None:
    """Raise CommandError if the finding was never met."""
    if not shrunk.shown:
        if not shrunk.complete:
            raise CommandError("interrupted before it was shown once.", ExitCode.INTERRUPTED)
        raise CommandError(
            f"shrink: {wrong.rule} does not show when the whole recording is played now; see `mlcheck replay`, or play "
            "it more often with --retries.",
            ExitCode.INCONCLUSIVE,
        )


def _next(output: Path) -> str:
    return shlex.join(["mlcheck", "promote", str(output)])


def _tell(shrunk: Shrunk, wrong: Finding, output: Path, unit: str) -> None:
    before, after = shrunk.units
    simpler = f", {counted(shrunk.simpler, 'value')} made simpler" if shrunk.simpler else ""
    write(
        f"{output}: {wrong.rule} with {after or 'none'} of {counted(before, unit)} ({shrunk.events[1]} of "
        f"{counted(shrunk.events[0], 'event')}){simpler}; {counted(shrunk.tried, 'play')} in {shrunk.seconds:.1f} s\n"
        f"Next: {_next(output)}\n"
    )


class _Progress:
    """Progress of a shrink: one line on a terminal, else a line whenever something shorter was found."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._terminal = sys.stderr.isatty()
        self._least = -1

    def __call__(self, plays: int, size: int, least: int) -> None:
        text = f"play {plays + 1}: {counted(size, self._unit)}; the shortest so far has {least}"
        if self._terminal:
            sys.stderr.write(f"{_ERASE}{text}")
            sys.stderr.flush()
        elif least != self._least:
            remark(text)
        self._least = least

    def end(self) -> None:
        """Leave no line behind."""
        if self._terminal:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
