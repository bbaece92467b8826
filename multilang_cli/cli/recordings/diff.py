"""``mlcheck diff``."""

import shlex
from datetime import UTC, datetime
from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Reports
from multilang_cli.cli.options.replay_options import Compare, Ignore, Key
from multilang_cli.replay.command_line import recording_of, wanted_of
from multilang_cli.replay.comparison import Side, compare
from multilang_cli.replay.result import result_of
from multilang_cli.reports.formats.registry import STDOUT
from multilang_cli.reports.verdict import conclude
from multilang_cli.subject.outputs import checked_reports, console_of, write_reports
from multilang_cli.subject.recordings import spare
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.output import stdout_may_close


def diff(
    then: Annotated[str, typer.Argument(metavar="A", hidden=True)],
    now: Annotated[str, typer.Argument(metavar="B", hidden=True)],
    *,
    ignore: Ignore = None,
    comparing: Compare = None,
    key: Key = None,
    report: Reports = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only the summary.")] = False,
    color: Color = None,
) -> int:
    """Compare two recorded conversations of the same input: A as it was, B as it is.

    Messages are matched by what they say and which tuples they answer, whatever ids these had. Order counts only where
    the protocol fixes it; `--compare order` has it count for emits.
    """
    reports, console = checked_reports(report), console_of(color)
    before, after = recording_of("diff", then), recording_of("diff", now)
    spare("diff", (each.path for each in reports), (*before.files, *after.files))
    if before.profile.kind != after.profile.kind:
        kinds = f"{then} is of a {before.profile.kind}, {now} of a {after.profile.kind}"
        raise CommandError(f"diff: {kinds}; two conversations with the same component are needed.")
    wanted = wanted_of("diff", before, ignore or (), comparing or (), key or ())
    spout = before.profile.kind == "spout"
    sides = [Side(each.events, each.findings()) for each in (before, after)]
    compared = compare(sides[0], sides[1], wanted, spout=spout, inputs=True)
    result = conclude(
        result_of(
            "diff",
            before,
            compared,
            argv=after.header.argv,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            notes=tuple(f"{now}: {note}" for note in after.notes),
            transcript=now,
            next_command="" if compared.same else shlex.join(["mlcheck", "lint", now]),
            damage=f"{now}: {after.damage}" if after.damage else "",
        )
    )
    write_reports(reports, result, before.rulebook)
    if all(each.path != STDOUT for each in reports):
        from multilang_cli.replay.screen import show  # noqa: PLC0415 (slow to import)

        with stdout_may_close():
            show(compared, result, console, quiet=quiet)
    return result.exit_code
