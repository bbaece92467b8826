"""``mlcheck shrink``."""

from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.cli.options import run_options as option
from multilang_cli.cli.options.as_json import Json
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.replay_options import Transcript


@handled_by("replay.shrink.shrinking:shrink_given")
def shrink(
    words: Transcript,
    *,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where the shortest goes.")] = Path(
        "small.ndjson"
    ),
    finding: Annotated[
        str,
        typer.Option("--finding", metavar="RULE|FINGERPRINT", help="What it must still show. Default: the first must."),
    ] = "",
    again: Annotated[
        int, typer.Option("--retries", metavar="N", min=0, help="Play what does not show it up to N times again.")
    ] = 0,
    component: option.Component = None,
    conf: option.Conf = None,
    conf_files: option.ConfFiles = None,
    cwd: option.Cwd = None,
    env: option.Env = None,
    limits: option.Limits = None,
    timeout: option.Timeout = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Do not show how far it is.")] = False,
    as_json: Json = False,
) -> None:
    """Make TRANSCRIPT as short as can be, so that COMMAND still breaks the same rule: mlcheck shrink T -- COMMAND.

    Tuples and commands are left out, with all that belongs to them, and what is left is played to a fresh process,
    again and again; then their values are made simpler. Ctrl-C keeps the shortest so far.
    """
