"""A search for faults that break a topology: runs the plans, makes the one that breaks it small, and writes it."""

from __future__ import annotations

import random
import shutil
import time
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.reports.escape import escape
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.reports.verdict import FAILURES, Circumstances, conclude
from multilang_cli.terminal.output import remark
from multilang_cli.topology.console.sweeping import Played, forget, noted
from multilang_cli.topology.faults.plan_file import NAME, BrokenCheck, FaultPlan, to_json
from multilang_cli.topology.faults.points import points_of
from multilang_cli.topology.faults.search import FaultSearch, smaller
from multilang_cli.topology.history_file import read_history
from multilang_cli.topology.model import EXPECTED
from multilang_cli.transcript.naming import HISTORY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.reports.model import Verdict
    from multilang_cli.topology.faults.points import FaultPoint
    from multilang_cli.topology.faults.search import Plan

RUNS_OF_SMALLEST = 1
"""Runs that are made of the smallest plan when it is found, to see that it breaks the topology again."""
TWICE = 2
FOLDERS = "search-*"


def searched(
    seconds: float, folder: Path, play: Callable[[tuple[str, ...], Path], Played], *, strict: bool, quiet: bool
) -> Played:
    """Search for so long; the run that was broken by the fewest faults, or else the undisturbed one.

    Its result notes what was searched. Its folder, search-N in `folder`, is the one kept; the plan is written beside
    it. `play`: runs with faults in a folder. `strict`: a warning breaks a topology too. Raises CommandError, OSError.
    """
    return _Searcher(folder, play, strict=strict, quiet=quiet).search(seconds)


class _Searcher:
    def __init__(
        self, folder: Path, play: Callable[[tuple[str, ...], Path], Played], *, strict: bool, quiet: bool
    ) -> None:
        self._folder = folder
        self._play = play
        self._breaks: set[Verdict] = {*FAILURES, "warn"} if strict else {*FAILURES}
        self._quiet = quiet
        self._runs = 0
        self._stopped = False
        self._began = time.monotonic()

    def search(self, seconds: float) -> Played:
        """Search for so long."""
        forget(self._folder, FOLDERS)
        (self._folder / NAME).unlink(missing_ok=True)
        undisturbed = self._run(())
        if undisturbed.run.outcome.interrupted:
            return undisturbed
        if self._broken(undisturbed):
            return noted(undisturbed, "Search: no fault is needed. This is a run without any")
        setup = undisturbed.setup
        search = FaultSearch(_points(undisturbed), random.Random(setup.seed))  # noqa: S311 (one seed is one order)
        until = self._began + seconds
        while time.monotonic() < until and (plan := search.next()) is not None:
            played = self._run(plan)
            if played.run.outcome.interrupted or self._broken(played):
                _remove(undisturbed)
                return played if played.run.outcome.interrupted else self._found(plan, played, search)
            search.saw(plan, _points(played))
            _remove(played)
        spent = f"{search.tried} plans of faults, at {len(search.kinds)} kinds of points, in {self._spent:.0f} s"
        told = "" if EXPECTED in setup.conf else f". {EXPECTED} is not set, so only trees were looked at"
        return noted(undisturbed, f"Search: nothing was broken by {spent}{told}. This is the run without faults")

    @property
    def _spent(self) -> float:
        return time.monotonic() - self._began

    def _found(self, plan: Plan, played: Played, search: FaultSearch) -> Played:
        """Make the plan as small as it can be, play it again, and write it down."""
        found, first = self._spent, plan
        self._written(plan, played, 1, 1)  # Ctrl-C may come at any moment
        tried = {plan}
        while (less := self._smaller(plan, tried)) is not None:
            _remove(played)
            plan, played = less
        times = runs = 1
        while runs <= RUNS_OF_SMALLEST and not self._stopped:
            other = self._run(plan)
            runs, times = runs + 1, times + bool(self._broken(other))
            _remove(other)
        file = self._written(plan, played, times, runs)
        of = f", the smallest of {len(first)}" if len(first) > len(plan) else ""
        faults = " and ".join(map(str, plan))
        seed = f" --seed {played.setup.seed}" if played.setup.seed else ""
        told = noted(
            played,
            f"Search: plan {search.tried}, after {found:.0f} s, broke it. {faults}{of} does, {times} of {runs} times; "
            f"--fault @{file}{seed} plays it again",
        )
        return _interrupted(told) if self._stopped else told

    def _smaller(self, plan: Plan, tried: set[Plan]) -> tuple[Plan, Played] | None:
        """A smaller plan that breaks it each time, and a run of it; None if there is none that was not `tried`."""
        for less in smaller(plan):
            if less in tried:
                continue
            tried.add(less)
            runs = [self._run(less)]
            if self._broken(runs[0]) and not self._stopped:
                runs.append(self._run(less))
            if len(runs) == TWICE and self._broken(runs[1]):
                _remove(runs[0])
                return less, runs[1]
            for each in runs:
                _remove(each)
            if self._stopped:
                break
        return None

    def _written(self, plan: Plan, played: Played, times: int, runs: int) -> Path:
        setup, broken = played.setup, self._broken(played)
        file = self._folder / NAME
        told = FaultPlan(
            topology=setup.topology.name,
            storm=setup.version.id,
            seed=setup.seed,
            faults=tuple(map(str, plan)),
            broke=tuple(BrokenCheck(id_, reason) for id_, reason in broken.items()),
            times=times,
            runs=runs,
        )
        write_whole(file, to_json(told), private=True)
        return file

    def _run(self, plan: Plan) -> Played:
        self._runs += 1
        played = self._play(tuple(map(str, plan)), self._folder / f"search-{self._runs}")
        self._stopped = played.run.outcome.interrupted
        if not self._quiet:
            broken = "; ".join(f"{id_}: {reason}" for id_, reason in self._broken(played).items())
            remark(f"{' '.join(map(str, plan)) or 'no fault'}: {escape(broken) or 'all holds'}")
        return played

    def _broken(self, played: Played) -> dict[str, str]:
        """Subjects that do not hold in a run, with the reasons."""
        wrong = (each for each in played.run.result.subjects if each.verdict in self._breaks)
        return {each.id: each.reason or "" for each in wrong}


def _points(played: Played) -> list[FaultPoint]:
    setup = played.setup
    return points_of(read_history(setup.folder / HISTORY), setup.topology, setup.layout)


def _remove(played: Played) -> None:
    shutil.rmtree(played.setup.folder, ignore_errors=True)


def _interrupted(played: Played) -> Played:
    """It was found, and the user had no patience for more."""
    result = conclude(msgspec.structs.replace(played.run.result, untested=()), Circumstances(interrupted=True))
    return Played(played.setup, played.run._replace(result=result))
