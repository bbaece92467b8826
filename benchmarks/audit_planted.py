"""``python -m benchmarks.audit_planted``: verdicts on made recordings with all damage planted, against the truth.

Trees with every fate are recorded by taps, which never see a root; then lines are lost, doubled and swapped, files are
cut or packed wrongly, workers die, their clocks are set, tasks have two taps. Each kind of damage is audited alone,
then all of them together. 1 if a root is wrong that is said to be certain, or any where the taps saw all.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.options import parser_of
from multilang_cli.audit import inputs
from multilang_cli.audit.session import session
from multilang_cli.audit.stages import events
from multilang_cli.audit.stages.facts import facts_of
from multilang_cli.audit.stages.lines import lines
from multilang_cli.audit.stages.roots import roots
from multilang_cli.audit.stages.trees import marks_of_taps
from tests.audit.generator.damage import Damage
from tests.audit.generator.histories import truth
from tests.audit.generator.taps import Taps, transcripts
from tests.audit.generator.trees import VERDICTS, TreesPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

GAP = 0.002
EVENTS = 21
"""Lines that a root makes, about."""
BYTES = 112
"""Bytes of a line, about."""
WEIGHTS = {"completed": 60.0, **dict.fromkeys(VERDICTS[1:], 1.0)}
SHARE = 0.0005
"""Lines of which each kind of damage befalls one in so many."""
FAR = {0: 0.5, 1: -0.25, 2: 0.0}
STEPS = {0: 2.0, 1: -3.0}


class Scenario(NamedTuple):
    """A kind of damage. `exact`: nothing is lost by it, so every verdict has to be right."""

    taps: Taps
    restarts: bool = False
    exact: bool = False


SCENARIOS: dict[str, Scenario] = {
    "none": Scenario(Taps(), exact=True),
    "clocks": Scenario(Taps(skew=FAR), exact=True),
    "doubled and swapped lines": Scenario(Taps(damage=Damage(doubled=SHARE, swapped=SHARE)), exact=True),
    "wrong checksums": Scenario(Taps(damage=Damage(packed=(1, 4, 8))), exact=True),
    "workers that die": Scenario(Taps(), restarts=True),
    "workers that die, clocks that step": Scenario(Taps(skew=FAR, steps=STEPS), restarts=True),
    "lost lines": Scenario(Taps(damage=Damage(lost=SHARE))),
    "cut files": Scenario(Taps(damage=Damage(cut=(3, 9)))),
    "two taps": Scenario(Taps(damage=Damage(twice=(5,)))),
    "all": Scenario(
        Taps(
            skew=FAR,
            steps=STEPS,
            damage=Damage(lost=SHARE, doubled=SHARE, swapped=SHARE, cut=(3, 9), packed=(1, 4, 8), twice=(5,)),
        ),
        restarts=True,
    ),
}


class Told(NamedTuple):
    """How many roots have a true verdict, the one that was found, and the confidence; "" where a root was not found."""

    true: str
    found: str
    confidence: str


def main() -> int:
    """Print the tables."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--events", type=int, default=100_000, help="lines of each recording, about")
    parser.add_argument("--only", action="append", choices=list(SCENARIOS), help="this damage alone; repeatable")
    given = parser.parse_args()
    spark = session("local[2]", size=given.events * BYTES)
    wrong = 0
    print("| damage | roots | right | uncertain | wrong | wrong, certain |\n| --- | --- | --- | --- | --- | --- |")
    try:
        for name in given.only or SCENARIOS:
            counted = planted(spark, SCENARIOS[name], given.events // EVENTS)
            wrong += _shown(name, counted, exact=SCENARIOS[name].exact)
    finally:
        spark.stop()
    print(f"\nOf {name}:\n")
    print("\n".join(precision(counted)))
    return 1 if wrong else 0


def planted(spark: SparkSession, scenario: Scenario, count: int) -> Counter[Told]:
    """Make recordings, audit them, and count roots by what was true and what was found."""
    span = count * GAP
    restarts = ((span * 0.3, 0), (span * 0.5, 1), (span * 0.7, 2)) if scenario.restarts else ()
    plan = TreesPlan(roots=count, weights=WEIGHTS, gap=GAP, restarts=restarts)
    with tempfile.TemporaryDirectory() as place:
        taps = Path(place, "taps")
        taps.mkdir()
        for name, file in transcripts(plan, scenario.taps).items():
            (taps / name).write_bytes(file)
        found = events.tables(lines(spark, inputs.find([str(taps)]).transcripts))
        happened = found.events.persist()
        marks = marks_of_taps(facts_of(found.conversations, happened), happened)
        rows = roots(marks).select("message_id", "verdict", "confidence").collect()
        happened.unpersist()
    true = {str(made.number): made.verdict for made in truth(plan)}
    counted = Counter(Told(true[row.message_id], row.verdict, row.confidence) for row in rows)
    counted.update(Told(true[id_], "", "") for id_ in true.keys() - {row.message_id for row in rows})
    return counted


def _shown(name: str, counted: Counter[Told], *, exact: bool) -> bool:
    """Print a row; True if something is wrong that must not be."""
    right = sum(number for told, number in counted.items() if told.true == told.found)
    unsure = sum(number for told, number in counted.items() if told.found in {"uncertain", ""})
    bad = {told: number for told, number in counted.items() if told.found not in {told.true, "uncertain", ""}}
    sure = {told: number for told, number in bad.items() if told.confidence == "certain"}
    total, wrong = sum(counted.values()), sum(bad.values())
    print(f"| {name} | {total:,} | {right:,} | {unsure:,} | {wrong:,} | {sum(sure.values()):,} |", flush=True)
    for told, number in sorted((told, n) for told, n in counted.items() if told.true != told.found):
        print(f"  {number} {told.true!r} as {told.found!r} ({told.confidence})", file=sys.stderr)
    return bool(sure) or (exact and right < total)


def precision(counted: Counter[Told]) -> Iterator[str]:
    """Precision and recall of each verdict, of all roots and of those at confidence certain."""
    yield "| verdict | true | found | precision | recall | found for certain | precision of these |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for verdict in VERDICTS:
        true = _sum(counted, true=verdict)
        found, hit = _sum(counted, found=verdict), _sum(counted, true=verdict, found=verdict)
        sure = Counter({told: number for told, number in counted.items() if told.confidence == "certain"})
        sure_found, sure_hit = _sum(sure, found=verdict), _sum(sure, true=verdict, found=verdict)
        yield (
            f"| {verdict} | {true:,} | {found:,} | {_share(hit, found)} | {_share(hit, true)} | {sure_found:,} |"
            f" {_share(sure_hit, sure_found)} |"
        )


def _sum(counted: Counter[Told], true: str | None = None, found: str | None = None) -> int:
    return sum(
        number for told, number in counted.items() if true in {None, told.true} and found in {None, told.found}
    )  # fmt: skip


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.4f}" if whole else "-"


if __name__ == "__main__":
    sys.exit(main())
