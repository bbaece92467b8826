"""``python -m benchmarks.kills``: every mutant against every case for its kind, kept in ``conformance/kills``.

The tests play the pairs that are claimed. This plays all: which cases kill a mutant, and which kill none. With `--case`
only that case is played, and put into what is kept: minutes instead of an hour, for a case that is new.
"""

from __future__ import annotations

import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchmarks.options import parser_of
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.subject.options import RunOptions
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.cases.kills import Killed, Soaked, seen, soaked
from multilang_cli.suite.runner.suite_run import run_suite, suite_hash
from multilang_cli.suite.verdict.baseline import broken, rule_of
from tests.planted import missed, planted

if TYPE_CHECKING:
    from tests.planted import Planted

SHIPPED = Path("conformance", "kills")


def main() -> int:
    """Play and keep them; 1 if a case kills none."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("homes", nargs="*", metavar="HOME", help="a testee's folder, or a file of tests/mutants")
    parser.add_argument("--jobs", type=int, default=4, help="cases at once")
    parser.add_argument("--timeout", type=float, default=5, help="seconds to wait for an answer")
    parser.add_argument(
        "--case", metavar="ID", default="", help="play this case only, and keep what was seen of others"
    )
    parser.add_argument("--into", type=Path, default=SHIPPED, help="folder of the results")
    chosen = parser.parse_args()
    if unknown := set(chosen.homes) - {mutant.home for mutant in planted()}:
        parser.error(f"no mutants are in {', '.join(sorted(unknown))}")
    for home, mutants in groupby(planted(), lambda mutant: mutant.home):
        if not chosen.homes or home in chosen.homes:
            found = {m.name: played(m, chosen.jobs, chosen.timeout, chosen.case) for m in mutants}
            keep(
                _with_others(home, found, chosen.case, chosen.into) if chosen.case else _whole(home, found), chosen.into
            )
    return _lazy(chosen.into)


def played(mutant: Planted, jobs: int, timeout: float, only: str = "") -> Killed:
    """A mutant against all cases, or `only` one; those that should have killed it and did not, again, alone."""
    began, kills = time.monotonic(), dict[str, set[str]]()
    with tempfile.TemporaryDirectory() as folder:
        for component in mutant.components:
            options = RunOptions(record=folder, jobs=jobs, timeout=timeout, exhaustive=True)
            if only:
                options = msgspec.structs.replace(options, include=(only,))
            result = run_suite(component, options)
            for subject in (each for each in result.subjects if each.kind == "case"):
                if rules := {rule_of(name) for name in broken(subject, result.storm)}:
                    kills.setdefault(subject.id, set()).update(rules)
        claims = {case: rule for case, rule in mutant.claims.items() if only in {"", case}}
        doubtful = {case: rule for case, rule in claims.items() if rule not in kills.get(case, ())}
        lost = missed(mutant._replace(claims=doubtful), Path(folder))
    for case in doubtful.keys() - lost.keys():
        # A rule that is a note kills nothing: its case is green.
        if load_rulebook().rules[doubtful[case]].level != "note":
            kills.setdefault(case, set()).add(doubtful[case])
    said = f"; NOT as claimed: {', '.join(lost)}" if lost else ""
    print(f"{mutant.home}/{mutant.name}: {len(kills)} cases, {time.monotonic() - began:.0f} s{said}", flush=True)
    return Killed(about=mutant.about, kills={case: tuple(sorted(kills[case])) for case in sorted(kills)})


def _whole(home: str, mutants: dict[str, Killed]) -> Soaked:
    """Everything that was just seen of one home."""
    return Soaked(
        home=home,
        played_on=datetime.now(UTC).date().isoformat(),
        storm=load_rulebook().newest.id,
        suite=suite_hash([*load_cases(), *load_cases("library")]),
        mutants=mutants,
    )


def _with_others(home: str, mutants: dict[str, Killed], case: str, folder: Path) -> Soaked:
    """The soak that is kept, its day and its hash too, with what was just seen of one case."""
    [soak] = [each for each in soaked(folder) if each.home == home]
    merged = dict(soak.mutants)
    for name, found in mutants.items():
        # One that the soak did not meet was not played against the other cases: it is kept for what it shows here.
        if name in merged or found.kills:
            before = merged[name].kills if name in merged else {}
            kills = {other: rules for other, rules in before.items() if other != case} | found.kills
            merged[name] = Killed(about=found.about, kills=dict(sorted(kills.items())))
    return msgspec.structs.replace(soak, mutants=merged)


def keep(soak: Soaked, folder: Path) -> None:
    """Write what became of the mutants of one home."""
    text = msgspec.json.format(msgspec.json.encode(soak), indent=1)
    write_whole(folder / f"{soak.home}.json", text + b"\n")


def _lazy(folder: Path) -> int:
    """Say which cases kill no mutant at all."""
    busy = {kill.case for kill in seen(folder)}
    lazy = [case.id for suite in ("component", "library") for case in load_cases(suite) if case.id not in busy]
    print(f"cases that kill nothing in {folder}: {', '.join(lazy) or 'none'}")
    return 1 if lazy else 0


if __name__ == "__main__":
    sys.exit(main())
