"""Implementation of ``mlcheck topology run``: reads the file, runs it, shows what came of it."""

from __future__ import annotations

import random
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import msgspec

from multilang_cli.acking.acker import LatePolicy
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.driver.environment import caller_environment
from multilang_cli.driver.launch import LaunchError
from multilang_cli.reports.formats.registry import STDOUT
from multilang_cli.reports.page import Page
from multilang_cli.subject.outputs import checked_reports, console_of, write_reports
from multilang_cli.subject.storms import known_storm
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import remark, stdout_may_close
from multilang_cli.topology.console.flux_file import FluxFlags, read_file
from multilang_cli.topology.console.searching import searched
from multilang_cli.topology.console.settings import topology_settings
from multilang_cli.topology.console.showing import progress_of, show_run
from multilang_cli.topology.console.sweeping import Played, worst_of
from multilang_cli.topology.engine.setup import Goal, set_up
from multilang_cli.topology.faults.plan import FaultError, plan_faults
from multilang_cli.topology.faults.plan_file import read_plan
from multilang_cli.topology.model import GUARANTEE, GUARANTEES
from multilang_cli.topology.page import sections_of
from multilang_cli.topology.running import prepare, run_topology
from multilang_cli.topology.tasks import MAX_PARALLELISM, lay_out
from multilang_cli.transcript.naming import fit_for_a_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import StormVersion
    from multilang_cli.topology.engine.setup import Setup
    from multilang_cli.topology.flux import FluxFile
    from multilang_cli.topology.running import TopologyRun

RECORD = Path(".mlcheck/topology")
"""Where runs are written: a folder by the topology's name."""
FILES_A_TASK = 6
"""Pipes, the process itself, its transcript, and a file of its stderr now and then."""
FILES_OF_OURS = 64


class TopologyFlags(FluxFlags, frozen=True, kw_only=True):
    """Options of ``mlcheck topology run``; None where settings say what is not given."""

    storm: str | None = None
    messages: int = 0
    seconds: float = 0.0
    idle: float = 1.0
    drain: float | None = None
    seed: int | None = None
    seeds: int = 1
    search: float = 0.0
    late: str = "ignore"
    faults: tuple[str, ...] = ()
    guarantee: str = ""
    record: str = ""
    transcripts: bool = True
    strict: bool | None = None
    reports: tuple[str, ...] = ()
    color: str | None = None
    quiet: bool = False


class TopologyOptions(TopologyFlags, frozen=True, kw_only=True):
    """The same with what settings say."""

    storm: str = ""
    seed: int = 0
    strict: bool = False


def run_given(flags: TopologyFlags) -> int:
    """Run what the command line says; the exit code. Raises CommandError."""
    settings = topology_settings()
    told = {name: value for name, value in msgspec.structs.asdict(flags).items() if value is not None}
    given = TopologyOptions(**{**settings.defaults, **told})
    if given.search and (given.faults or given.seeds > 1):
        raise CommandError("--search plans the faults itself, with one seed: give it without --fault and --seeds.")
    console, reports = console_of(given.color), checked_reports(given.reports)
    storm = known_storm(given.storm)
    rulebook = load_rulebook(storm)
    version = rulebook.version(storm)
    conf = (*given.conf, *_guarantee(given.guarantee))
    read = settings.under(read_file(msgspec.structs.replace(given, conf=conf), version.id))
    if not given.quiet:
        for note in read.notes:
            remark(str(note))

    def play(folder: Path, **more: Any) -> Played:
        """One run of it; `more`: what goes over the flags. Raises CommandError."""
        one = msgspec.structs.replace(given, **more)
        setup = _set_up(one, read, version, rulebook, folder)
        return Played(setup, _played(one, setup))

    folder = Path(given.record) if given.record else RECORD / fit_for_a_file(read.topology.name)
    setup, run = _asked(given, folder, play)
    pages = any(each.format == "html" for each in reports)
    write_reports(reports, run.result, rulebook, tuple(sections_of(run, setup)) if pages else ())
    if all(each.path != STDOUT for each in reports):
        with stdout_may_close():
            show_run(Page(console), run, setup, rulebook, quiet=given.quiet)
            sys.stdout.flush()
    return run.result.exit_code


def _asked(given: TopologyOptions, folder: Path, play: Callable[..., Played]) -> Played:
    """Make a run, a sweep or a search, as is asked for. Raises CommandError."""
    if given.search:
        faulty = lambda faults, there: play(there, faults=faults)  # noqa: E731 (a call with other arguments)
        try:
            return searched(given.search, folder, faulty, strict=given.strict, quiet=given.quiet)
        except OSError as error:
            raise CommandError(f"{folder}: what was found can't be written: {error.strerror} (--record DIR)") from None
    if given.seeds > 1:
        seeds = range(given.seed, given.seed + given.seeds)
        return worst_of(seeds, folder, lambda seed, there: play(there, seed=seed), quiet=given.quiet)
    return play(folder)


def _wanted(faults: tuple[str, ...], topology: str) -> tuple[str, ...]:
    """The faults that are asked for, with those of files. Raises FaultError."""
    found: list[str] = []
    for each in faults:
        if each.startswith("@"):
            plan = read_plan(Path(each[1:]))
            if plan.topology != topology:
                raise FaultError(f"{each}: it is a plan for the topology {plan.topology}, and this one is {topology}")
            found += plan.faults
        else:
            found.append(each)
    return tuple(found)


def _played(given: TopologyOptions, setup: Setup) -> TopologyRun:
    """Run it. Raises CommandError."""
    _check_size(given.flux or given.streamparse, setup)
    try:
        with progress_of(setup.goal, quiet=given.quiet) as watch:
            return run_topology(setup, watch, strict=given.strict)
    except LaunchError as error:
        hint = f" {error.hint[0].upper()}{error.hint[1:]}" if error.hint else ""
        code = ExitCode.MISUSE if error.reason == "bad-cwd" else ExitCode.NO_FIRST_MESSAGE
        raise CommandError(f"{error.message}{hint}", code) from None
    except OSError as error:
        raise CommandError(
            f"the run can't be written to {setup.folder}: {error.strerror or error} (--record DIR)"
        ) from None


def _check_size(flux: str, setup: Setup) -> None:
    """Every task is a process. Raises CommandError where so many can't be had."""
    tasks = len(setup.layout.components) - len(setup.layout.ackers)
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if tasks * FILES_A_TASK + FILES_OF_OURS > allowed != resource.RLIM_INFINITY:
        raise CommandError(
            f"{flux}: its {tasks:,} tasks would be {tasks:,} processes, with {FILES_A_TASK} open files each; this "
            f"shell allows {allowed:,} (ulimit -n). Run less of it: --conf {MAX_PARALLELISM}=2 bounds the tasks of "
            "every component."
        )


def _guarantee(text: str) -> tuple[str, ...]:
    """Give what goes over the conf of the file. Raises CommandError."""
    if text and text not in GUARANTEES:
        raise CommandError(f"--guarantee {text}: it is one of {', '.join(GUARANTEES)}.")
    return (f"{GUARANTEE}={text}",) if text else ()


def _late(text: str) -> LatePolicy:
    if text not in get_args(LatePolicy):
        raise CommandError(f"--late {text}: it is one of {', '.join(get_args(LatePolicy))}.")
    return cast("LatePolicy", text)


def _set_up(given: TopologyOptions, read: FluxFile, version: StormVersion, rulebook: Rulebook, folder: Path) -> Setup:
    prepare(folder)
    try:
        dice = random.Random(given.seed)  # noqa: S311 (one seed is one plan)
        wanted = _wanted(given.faults, read.topology.name)
        faults = plan_faults(wanted, read.topology, lay_out(read.topology, version.id), dice)
    except FaultError as error:
        raise CommandError(f"--fault {error}.") from None
    goal = Goal(messages=given.messages, seconds=given.seconds, idle=given.idle, drain=given.drain)
    return set_up(
        read.topology,
        version,
        rulebook,
        folder,
        cwd=Path.cwd(),
        env=caller_environment(),
        goal=goal,
        seed=given.seed,
        late=_late(given.late),
        transcripts=given.transcripts,
        faults=faults,
    )
