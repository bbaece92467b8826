"""``mlcheck topology plan``."""

from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Storm
from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.cli.options.run_options import Conf
from multilang_cli.cli.topology.flux_file import (
    Ackers,
    ClassPath,
    EnvFilter,
    Filter,
    Flux,
    Jars,
    Properties,
    Resources,
    Streamparse,
)
from multilang_cli.terminal.exits import ExitCode
from multilang_cli.terminal.output import remark, stdout_may_close


def plan(
    flux: Flux = None,
    *,
    storm: Storm = None,
    filters: Filter = None,
    properties: Properties = None,
    env_filter: EnvFilter = False,
    resources: Resources = None,
    jars: Jars = None,
    class_path: ClassPath = None,
    streamparse: Streamparse = None,
    conf: Conf = None,
    ackers: Ackers = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="DIR", help="The folder of a run: say what its history tells, too.")
    ] = None,
    as_json: Json = False,
    color: Color = None,
) -> int:
    """Show what becomes of a topology: its graph, tasks and groupings, and what is not guaranteed.

    FLUX: a topology in Storm's Flux YAML. Nothing is started.
    """
    from multilang_cli.catalogue.loader import load_rulebook  # noqa: PLC0415 (slow to import, not needed for --help)
    from multilang_cli.reports.page import Page  # noqa: PLC0415
    from multilang_cli.subject.outputs import console_of  # noqa: PLC0415
    from multilang_cli.subject.storms import known_storm  # noqa: PLC0415
    from multilang_cli.topology import planning  # noqa: PLC0415
    from multilang_cli.topology.console.drawing import draw  # noqa: PLC0415
    from multilang_cli.topology.console.flux_file import class_path_of, read_file  # noqa: PLC0415
    from multilang_cli.topology.console.histories import history_in  # noqa: PLC0415
    from multilang_cli.topology.console.settings import topology_settings  # noqa: PLC0415

    settings = topology_settings()
    version = known_storm(storm or settings.storm) or load_rulebook().newest.id
    console = console_of(color)
    read = settings.under(
        read_file(
            flux,
            version,
            filters or (),
            properties or (),
            resources,
            env_filter=env_filter,
            conf=conf or (),
            ackers=ackers,
            jars=class_path_of(jars or (), class_path or ""),
            project=streamparse,
        )
    )
    made = planning.plan(read.topology, version, history_in(Path(run), f"--run {run}") if run else ())
    if as_json:
        for note in read.notes:
            remark(str(note))
        return print_json(planning.to_json(made))
    with stdout_may_close():
        draw(Page(console), made, read.notes, ran=run is not None)
    return ExitCode.CONFORMANT
