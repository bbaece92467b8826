"""Real Storm asked about recorded scripts, with progress, and what differs shown or recorded."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.locate import data_path
from multilang_cli.catalogue.oracle import oracle_cases
from multilang_cli.driver import jdk
from multilang_cli.subject.outputs import console_of, write_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import progress_line, remark, stdout_may_close
from multilang_cli.verify import oracle_program
from multilang_cli.verify.page import render_verification
from multilang_cli.verify.records import render, write_whole
from multilang_cli.verify.verification import record, sample, verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.catalogue.oracle import Case
    from multilang_cli.verify.verification import Verification


class VerifyFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck verify-storm``. `names`: of scripts; `out`: a file for what Storm did."""

    storm: str
    jobs: int
    names: tuple[str, ...] = ()
    sampled: bool = False
    out: Path | None = None
    write: bool = False
    verbose: bool = False
    as_json: bool = False
    color: str | None = None


def verify_given(flags: VerifyFlags) -> int:
    """Compare real Storm with the records; returns the exit code. Raises CommandError."""
    console = console_of(flags.color)
    out = flags.out
    if flags.write and not jdk.is_clone(data_path("oracle")):
        raise CommandError(
            "verify-storm: --write records in conformance/oracle, so it needs a clone of the repository."
        )
    if out is not None and not os.access(out.parent, os.W_OK):
        raise CommandError(f"verify-storm: --out {out}: no file can be written there.")
    cases = _chosen(flags.storm, flags.names, sampled=flags.sampled)
    found = _verified(flags.storm, cases, flags.jobs)
    _keep(found, out, write=flags.write)
    if flags.as_json:
        facts = {"storm": found.storm, "base": found.base, "asked": len(found.verdicts)}
        write_json({**facts, "differences": found.differences, "wavering": found.wavering})
    else:
        with stdout_may_close():
            render_verification(found, console, verbose=flags.verbose)
    return ExitCode.NOT_CONFORMANT if found.differences else ExitCode.CONFORMANT


def _keep(found: Verification, out: Path | None, *, write: bool) -> None:
    """Write the verdicts to `out`, if it is given, and to the records. Raises CommandError."""
    try:
        if out is not None:
            write_whole(out, render({name: {found.storm: verdict} for name, verdict in found.verdicts.items()}))
        for changed in record(found) if write else ():
            remark(f"conformance/oracle/{changed}: recorded")
    except OSError as error:
        raise CommandError(f"verify-storm: {error.filename or out}: can't be written: {error.strerror}.") from None


def _chosen(storm: str, names: Sequence[str], *, sampled: bool) -> list[Case]:
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
