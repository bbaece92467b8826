"""``mlcheck host``."""

from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Reports, Storm, Strict
from multilang_cli.cli.options import run_options as option

Patience = Annotated[
    float, typer.Option("--patience", metavar="FACTOR", min=0.1, help="Every limit of the cases, times this.")
]
Jobs = Annotated[int, typer.Option("-j", "--jobs", metavar="N", min=1, help="Play N cases at once.")]
Record = Annotated[Path, typer.Option("--record", metavar="DIR", help="For transcripts. Default: .mlcheck/last.")]


def host(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", hidden=True)],
    *,
    storm: Storm = None,
    include: option.Include = None,
    exclude: option.Exclude = None,
    fail_fast: option.FailFast = False,
    jobs: Jobs = 1,
    patience: Patience = 1.0,
    strict: Strict = None,
    record: Record = Path(".mlcheck/last"),
    record_all: option.RecordAll = False,
    reports: Reports = None,
    color: Color = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
) -> int:
    """Check a host: whatever plays Storm's side to spouts and bolts.

    COMMAND comes after --. It is started once a case, with the command of a scripted component after its own arguments;
    the variable MLCHECK_FEED names a JSON file that says what to tell that component (`mlcheck schema show feed`). It
    goes on until SIGTERM. `mlcheck docs host` has the whole contract.
    """
    from multilang_cli.suite.hosts.hosting import HostShowing, judge  # noqa: PLC0415 (slow to import, and not needed for --help)
    from multilang_cli.suite.hosts.suite import HostOptions  # noqa: PLC0415

    options = HostOptions(tuple(include or ()), tuple(exclude or ()), jobs, strict=bool(strict), fail_fast=fail_fast)
    showing = HostShowing(tuple(reports or ()), color, quiet=quiet, verbose=verbose)
    return judge(tuple(command), storm or "", options, showing, record, patience=patience, record_all=record_all)
