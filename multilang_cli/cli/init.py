"""``mlcheck init``."""

from typing import Annotated

import typer

from multilang_cli.cli.options.as_json import Json
from multilang_cli.cli.options.handled import handled_by

NAME = "mlcheck.toml"


@handled_by("scaffold.existing:init_given", "topology.console.flux_file:components_of_flux")
def init(
    source: Annotated[str, typer.Argument(metavar="SOURCE", hidden=True)] = ".",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where it is written; - is stdout.")
    ] = NAME,
    *,
    as_json: Json = False,
) -> None:
    """Write mlcheck.toml for existing components: names, commands, inputs, groupings, outputs.

    SOURCE: a Flux file or the folder it lies in, the folder of a streamparse project (with topologies/), or a folder
    of programs, such as Storm's resources; the working directory by default. Nothing is started, and no file is
    overwritten.
    """
