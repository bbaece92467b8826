"""``mlcheck verify-storm``."""

from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.cli.app import Color
from multilang_cli.cli.options.as_json import Json
from multilang_cli.cli.options.handled import handled_by

MOST_JOBS = 64


@handled_by("verify.asking:verify_given")
def verify_storm(
    storm: Annotated[str, typer.Argument(metavar="VERSION", hidden=True)],
    names: Annotated[list[str] | None, typer.Argument(metavar="CASE", hidden=True)] = None,
    *,
    sampled: Annotated[
        bool, typer.Option("--sample", help="Only cases in which versions near this one differ, and a tenth.")
    ] = False,
    jobs: Annotated[int, typer.Option("-j", "--jobs", metavar="N", min=1, max=MOST_JOBS, help="Play in N JVMs.")] = 2,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write what Storm did, as JSON.")] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Record what differs in conformance/oracle. In a clone only.")
    ] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show what Storm did, now and before.")] = False,
    as_json: Json = False,
    color: Color = None,
) -> None:
    """Ask the real Storm VERSION what it does, and print what differs from what is recorded.

    VERSION: any published release from 0.9.3 on. One that was never recorded is compared with the nearest that was.
    CASE: names of scripts of conformance/oracle. Default: all, some two minutes. Needs Maven and a JDK of 17 to 23;
    the first use of a version fetches its artifacts. The exit code is 0 if nothing differs, 1 if something does.
    """
