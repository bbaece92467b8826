from __future__ import annotations

import pytest

from multilang_cli.protocol.words.verdicts import Fate, Finding, Level, Outlook
from multilang_cli.reports.model import VERDICTS, RunVerdict, Verdict
from multilang_cli.reports.verdict import (
    OUTCOMES,
    Circumstances,
    conclude,
    count,
    outcome_of,
    verdict_of,
    worst,
)
from tests.results import DIRECT, GREEN, SKIPPED, TWICE, WARNED, finding, result


def breach(level: Level, fate: Fate = "survives", message: str = "odd") -> Finding:
    return Finding(rule="r", level=level, seq=1, offset=0, message=message, fates={"2.8.3": fate, "1.2.4": "dies"})


@pytest.mark.parametrize(
    ("findings", "expectation", "verdict", "reason"),
    [
        ([], "", "pass", ""),
        ([], "no sync came", "fail", "no sync came"),
        ([breach("must", "survives")], "", "fail", "odd"),
        ([breach("should", "dies")], "", "warn", "odd"),
        ([breach("note", "survives")], "", "pass", ""),
        ([breach("note", "ignored")], "", "pass", ""),
        ([breach("note", "unknown")], "", "pass", ""),
        ([breach("note", "dies")], "", "warn", "odd: right by the protocol, but on Storm 2.8.3: worker dies"),
        ([breach("note", "hangs")], "", "warn", "odd: right by the protocol, but on Storm 2.8.3: hangs"),
        ([breach("note", "loses-data")], "", "warn", "odd: right by the protocol, but on Storm 2.8.3: loses data"),
        (
            [breach("note", "fails-tuple")],
            "",
            "warn",
            "odd: right by the protocol, but on Storm 2.8.3: the tuple fails",
        ),
        ([breach("should"), breach("must", message="bad")], "", "fail", "bad"),
        ([breach("note", "dies"), breach("should", message="meh")], "no sync came", "fail", "no sync came"),
        ([breach("must", message="bad")], "no sync came", "fail", "bad"),
    ],
)
def test_a_subject_is_judged_by_its_worst(
    findings: list[Finding], expectation: str, verdict: Verdict, reason: str
) -> None:
    assert verdict_of(findings, "2.8.3", expectation) == (verdict, reason)


def test_only_the_chosen_version_punishes_a_note() -> None:
    direct = [finding(DIRECT, "emits to task 7")]
    assert verdict_of(direct, "2.5.0").verdict == "pass"
    assert verdict_of(direct, "2.8.3").verdict == "warn"


RUN: list[tuple[list[Verdict], dict[str, bool], int, RunVerdict]] = [
    (["pass"], {}, 0, "conformant"),
    (["pass", "skip"], {}, 0, "conformant"),
    (["pass", "xfail"], {}, 0, "conformant"),
    (["xfail"], {}, 0, "conformant"),
    (["pass", "warn"], {}, 0, "conformant"),
    (["pass", "warn"], {"strict": True}, 1, "not-conformant"),
    (["pass", "fail"], {}, 1, "not-conformant"),
    (["pass", "stale"], {}, 1, "not-conformant"),
    (["pass", "flaky"], {}, 1, "not-conformant"),
    (["pass", "untestable"], {}, 6, "inconclusive"),
    (["skip"], {}, 6, "inconclusive"),
    (["pass"], {"complete": False}, 6, "inconclusive"),
    (["fail", "untestable"], {"complete": False}, 1, "not-conformant"),
    ([], {}, 4, "nothing-selected"),
    ([], {"no_first_message": True}, 3, "no-first-message"),
    (["fail"], {"no_first_message": True}, 3, "no-first-message"),
    (["fail"], {"misuse": True, "no_first_message": True}, 2, "misuse"),
    (["fail", "error"], {"misuse": True}, 5, "harness-fault"),
    (["pass"], {"harness_fault": True}, 5, "harness-fault"),
    (["fail", "error"], {"interrupted": True, "misuse": True}, 130, "interrupted"),
]


@pytest.mark.parametrize(("verdicts", "flags", "code", "verdict"), RUN)
def test_exit_codes_one_by_one(verdicts: list[Verdict], flags: dict[str, bool], code: int, verdict: RunVerdict) -> None:
    counts = dict.fromkeys(VERDICTS, 0) | {name: verdicts.count(name) for name in verdicts}
    circumstances = {name: value for name, value in flags.items() if name not in {"strict", "complete"}}
    strict, complete = flags.get("strict", False), flags.get("complete", True)
    outcome = outcome_of(counts, strict=strict, complete=complete, circumstances=Circumstances(**circumstances))
    assert (outcome.code, outcome.verdict) == (code, verdict)


def test_the_table_has_every_code_once_in_the_order_of_precedence() -> None:
    assert [outcome.code for outcome in OUTCOMES] == [130, 5, 2, 3, 4, 1, 6, 0]
    assert {code for _, _, code, _ in RUN} == {outcome.code for outcome in OUTCOMES}


def test_conclude_fills_what_follows() -> None:
    ended = result(*GREEN, WARNED, TWICE, SKIPPED)
    assert ended.exit_code == 1
    assert ended.counts == count(ended.subjects)
    assert sum(ended.counts.values()) == len(ended.subjects)
    assert [(each.reason, each.ids) for each in ended.untested] == [("undeclared: ticks", ("bolt.tick.settled",))]
    assert ended.outlook == (Outlook("2.8.3", "dies", 3, "ack-twice"),)


def test_an_interrupted_run_is_never_complete() -> None:
    ended = conclude(result(*GREEN), Circumstances(interrupted=True))
    assert (ended.complete, ended.exit_code) == (False, 130)


def test_the_worst_outlook_of_each_version_wins_and_the_first_of_equals() -> None:
    outlooks = [Outlook("1.2.4", "hangs", 4), Outlook("2.8.3", "survives"), Outlook("1.2.4", "dies", 9)]
    assert worst([*outlooks, Outlook("1.2.4", "dies", 1)]) == (outlooks[2], outlooks[1])
