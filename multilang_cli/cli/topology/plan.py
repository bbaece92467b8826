"""``mlcheck topology plan``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Storm
from multilang_cli.cli.options.as_json import Json
from multilang_cli.cli.options.handled import handled_by
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


@handled_by("topology.console.plan:plan_given")
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
) -> None:
    """Show what becomes of a topology: its graph, tasks and groupings, and what is not guaranteed.

    FLUX: a topology in Storm's Flux YAML. Nothing is started.
    """
