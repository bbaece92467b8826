"""Implementation of ``mlcheck topology plan``: reads the file, shows what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

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


def plan_given(given: dict[str, Any]) -> int:
    """Show the plan of what the command line names; the exit code. Raises CommandError."""
    settings, run = topology_settings(), given.get("run")
    version = known_storm(given.get("storm") or settings.storm) or load_rulebook().newest.id
    console = console_of(given.get("color"))
    read = settings.under(read_file(msgspec.convert(given, FluxFlags), version))
    made = planning.plan(read.topology, version, history_in(Path(run), f"--run {run}") if run else ())
    if given["as_json"]:
        for note in read.notes:
            remark(str(note))
        write_json(planning.to_json(made))
        return ExitCode.CONFORMANT
    with stdout_may_close():
        draw(Page(console), made, read.notes, ran=run is not None)
    return ExitCode.CONFORMANT
