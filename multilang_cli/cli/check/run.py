"""``mlcheck run``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Reports, Strict
from multilang_cli.cli.options import run_options as option
from multilang_cli.cli.options.handled import handled_by


@handled_by("suite.checking:run_given")
def run(
    command: Annotated[list[str] | None, typer.Argument(metavar="COMMAND", hidden=True)] = None,
    *,
    component: option.Component = None,
    kind: option.Kind = None,
    storm: option.Storm = None,
    storm_required: option.StormRequired = None,
    tuples: option.Tuples = None,
    tuple_files: option.TupleFiles = None,
    conf: option.Conf = None,
    conf_files: option.ConfFiles = None,
    ackers: option.Ackers = None,
    inputs: option.Inputs = None,
    streams: option.Streams = None,
    cwd: option.Cwd = None,
    env: option.Env = None,
    task: option.Task = None,
    settles: option.Settles = None,
    accepts: option.Accepts = None,
    pid: option.Pid = None,
    limits: option.Limits = None,
    real_ticks: option.RealTicks = False,
    exhaustive: option.Exhaustive = False,
    include: option.Include = None,
    exclude: option.Exclude = None,
    fail_fast: option.FailFast = False,
    max_fail: option.MaxFail = None,
    jobs: option.Jobs = None,
    retries: option.Retries = None,
    known_failures: option.KnownFailures = None,
    write_known_failures: option.WriteKnownFailures = None,
    dry_run: option.DryRun = False,
    timeout: option.Timeout = None,
    memory: option.Memory = None,
    strict: Strict = None,
    seed: option.Seed = None,
    record: option.Record = None,
    record_all: option.RecordAll = False,
    reports: Reports = None,
    suites: option.Suites = None,
    testees: option.Testees = None,
    prepare: option.Prepare = False,
    color: Color = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
) -> None:
    """Check a spout or bolt: start it, talk to it as Storm does, judge what it answers.

    COMMAND: its file, or a command; if it has arguments, after --. Without one, every [[component]] of mlcheck.toml
    is checked; a report holds them all, and transcripts go to a directory for each.

    The suite starts the component dozens of times, and acks and fails what a spout emits: --dry-run shows it first.

    Flags win over the environment (MLCHECK_STORM, _STORM_REQUIRED, _JOBS, _TIMEOUT, _STRICT, _SEED, _RECORD, _COLOR),
    which wins over mlcheck.toml or [tool.mlcheck] of pyproject.toml, the first that is found upwards.
    """
