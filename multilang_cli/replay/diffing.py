"""Start and end of ``mlcheck diff``: two recordings of the same input, compared."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.replay.command_line import readable, reader_of, wanted_of
from multilang_cli.replay.comparison import Side, compare
from multilang_cli.replay.result import result_of
from multilang_cli.replay.starting import tell
from multilang_cli.reports.verdict import conclude
from multilang_cli.subject.outputs import checked_reports, console_of
from multilang_cli.subject.recordings import refuse_overwriting
from multilang_cli.terminal.exits import CommandError

if TYPE_CHECKING:
    from multilang_cli.replay.recording import JudgedRecording, RecordingReader


class DiffFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the command. `then`, `now`: the recordings."""

    then: str
    now: str
    ignore: tuple[str, ...] = ()
    comparing: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    report: tuple[str, ...] = ()
    quiet: bool = False
    color: str | None = None


def diff_given(flags: DiffFlags) -> int:
    """Compare what the command line names. Raises CommandError."""
    reports, console = checked_reports(flags.report), console_of(flags.color)
    then, now = flags.then, flags.now
    with readable("diff"):
        readers = reader_of("diff", then), reader_of("diff", now)
        refuse_overwriting("diff", (each.path for each in reports), (*readers[0].files, *readers[1].files))
        kinds = [each.profile.kind for each in readers]
        if kinds[0] != kinds[1]:
            told = f"{then} is of a {kinds[0]}, {now} of a {kinds[1]}"
            raise CommandError(f"diff: {told}; two conversations with the same component are needed.")
        wanted = wanted_of("diff", readers[0].profile, flags.ignore, flags.comparing, flags.key)
        sides = [_Read(each) for each in readers]
        compared = compare(sides[0].side, sides[1].side, wanted, spout=kinds[0] == "spout", inputs=True)
        before, after = (each.recording() for each in sides)
    result = conclude(
        result_of(
            "diff",
            before,
            compared,
            argv=after.header.argv,
            notes=tuple(f"{now}: {note}" for note in after.notes),
            transcript=now,
            next_command="" if compared.same else shlex.join(["mlcheck", "lint", now]),
            damage=f"{now}: {after.damage}" if after.damage else "",
        )
    )
    tell(compared, result, before, reports, console, quiet=flags.quiet)
    return result.exit_code


class _Read:
    """A recording that is compared as it is read, unless it begins in the middle."""

    def __init__(self, reader: RecordingReader) -> None:
        self._reader = reader
        self._loaded = None if reader.header.part == 1 else reader.loaded()
        loaded = self._loaded
        self.side = (
            Side(reader.spans(), reader.findings) if loaded is None else Side.of(loaded.events, loaded.findings())
        )

    def recording(self) -> JudgedRecording:
        """The recording, once it was read; without its events, if it was compared as it was read."""
        return self._loaded or self._reader.recording(())
