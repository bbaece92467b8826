"""``mlcheck verify-storm``."""

import os
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.catalogue.oracle import Case, oracle_cases
from multilang_cli.cli.app import Color
from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.subject.outputs import console_of
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import progress_line, remark, stdout_may_close
from multilang_cli.verify import oracle_program
from multilang_cli.verify.page import render_verification
from multilang_cli.verify.records import render, write_whole
from multilang_cli.verify.verification import Verification, record, sample, verify

MOST_JOBS = 64


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
) -> int:
    """Ask the real Storm VERSION what it does, and print what differs from what is recorded.

    VERSION: any published release from 0.9.3 on. One that was never recorded is compared with the nearest that was.
    CASE: names of scripts of conformance/oracle. Default: all, some two minutes. Needs Maven and a JDK of 17 to 23;
    the first use of a version fetches its artifacts. The exit code is 0 if nothing differs, 1 if something does.
    """
    console = console_of(color)
    if write and not oracle_program.is_clone():
        raise CommandError(
            "verify-storm: --write records in conformance/oracle, so it needs a clone of the repository."
        )
    if out is not None and not os.access(out.parent, os.W_OK):
        raise CommandError(f"verify-storm: --out {out}: no file can be written there.")
    cases = _chosen(storm, names or [], sampled=sampled)
    found = _verified(storm, cases, jobs)
    try:
        if out is not None:
            write_whole(out, render({name: {storm: verdict} for name, verdict in found.verdicts.items()}))
        for changed in record(found) if write else ():
            remark(f"conformance/oracle/{changed}: recorded")
    except OSError as error:
        raise CommandError(f"verify-storm: {error.filename or out}: can't be written: {error.strerror}.") from None
    if as_json:
        facts = {"storm": found.storm, "base": found.base, "asked": len(found.verdicts)}
        print_json({**facts, "differences": found.differences, "wavering": found.wavering})
    else:
        with stdout_may_close():
            render_verification(found, console, verbose=verbose)
    return ExitCode.NOT_CONFORMANT if found.differences else ExitCode.CONFORMANT


def _chosen(storm: str, names: list[str], *, sampled: bool) -> list[Case]:
    """The cases to play. Raises CommandError."""
    known = oracle_cases()
    for name in names:
        if name not in known:
            raise CommandError(f"verify-storm: there is no script {name[:60]!r}{did_you_mean(name, known)}")
    if names and sampled:
        raise CommandError("verify-storm: --sample chooses cases itself; leave out either it or the names.")
    try:
        oracle_program.parsed(storm)
        return [known[name] for name in dict.fromkeys(names)] or (sample(storm) if sampled else list(known.values()))
    except oracle_program.OracleUnavailableError as error:
        raise CommandError(f"verify-storm: {error}.") from None


def _verified(storm: str, cases: list[Case], jobs: int) -> Verification:
    """The comparison, with its progress on stderr. Raises CommandError."""
    done = count()
    try:
        with progress_line(verbose=False, quiet=False) as progress:

            def tell(case: str) -> None:
                """A case was answered by Storm."""
                if progress is not None:
                    # Cases that differed are asked again: of these nobody knows how many there will be.
                    progress(case, min(next(done), len(cases) - 1), len(cases))

            if progress is not None:
                progress(f"starting Storm {storm}; the first time it has to be fetched", 0, len(cases))
            return verify(storm, cases, jobs, tell)
    except oracle_program.OracleUnavailableError as error:
        raise CommandError(f"verify-storm: {error}.") from None
    except oracle_program.OracleError as error:
        raise CommandError(f"verify-storm: {error}.", ExitCode.HARNESS_FAULT) from None
