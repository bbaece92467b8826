"""Implementation of ``mlcheck topology plan``: reads the file, shows what becomes of it."""

from __future__ import annotations

from pathlib import Path

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.reports.page import Page
from multilang_cli.subject.outputs import console_of, write_json
from multilang_cli.subject.storms import known_storm
from multilang_cli.terminal.exits import ExitCode
from multilang_cli.terminal.output import remark, stdout_may_close
from multilang_cli.topology import planning
from multilang_cli.topology.console.drawing import draw
from multilang_cli.topology.console.flux_file import FluxFlags, read_file
from multilang_cli.topology.console.histories import history_in
from multilang_cli.topology.console.settings import topology_settings


class PlanFlags(FluxFlags, frozen=True, kw_only=True):
    """Options of ``mlcheck topology plan``. `run`: the folder of a run."""

    storm: str = ""
    run: str | None = None
    as_json: bool = False
    color: str | None = None


def plan_given(flags: PlanFlags) -> int:
    """Show the plan of what the command line names; the exit code. Raises CommandError."""
    settings = topology_settings()
    version = known_storm(flags.storm or settings.storm) or load_rulebook().newest.id
    console = console_of(flags.color)
    read = settings.under(read_file(flags, version))
    made = planning.plan(read.topology, version, history_in(Path(flags.run), f"--run {flags.run}") if flags.run else ())
    if flags.as_json:
        for note in read.notes:
            remark(str(note))
        write_json(planning.to_json(made))
        return ExitCode.CONFORMANT
    with stdout_may_close():
        draw(Page(console), made, read.notes, ran=flags.run is not None)
    return ExitCode.CONFORMANT
