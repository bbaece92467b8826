"""Start and end of ``mlcheck diff``: two recordings of the same input, compared."""

from __future__ import annotations

import shlex

import msgspec

from multilang_cli.replay.command_line import recording_of, wanted_of
from multilang_cli.replay.comparison import Side, compare
from multilang_cli.replay.result import result_of
from multilang_cli.replay.starting import tell
from multilang_cli.reports.verdict import conclude
from multilang_cli.subject.outputs import checked_reports, console_of
from multilang_cli.subject.recordings import refuse_overwriting
from multilang_cli.terminal.exits import CommandError


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
    before, after = recording_of("diff", then), recording_of("diff", now)
    refuse_overwriting("diff", (each.path for each in reports), (*before.files, *after.files))
    if before.profile.kind != after.profile.kind:
        kinds = f"{then} is of a {before.profile.kind}, {now} of a {after.profile.kind}"
        raise CommandError(f"diff: {kinds}; two conversations with the same component are needed.")
    wanted = wanted_of("diff", before, flags.ignore, flags.comparing, flags.key)
    sides = [Side(each.events, each.findings()) for each in (before, after)]
    compared = compare(sides[0], sides[1], wanted, spout=before.profile.kind == "spout", inputs=True)
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
