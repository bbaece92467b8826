from __future__ import annotations

from typing import cast

import msgspec
import pytest

from multilang_cli.reports.formats.console import pretty_text, summary_of
from multilang_cli.reports.model import SubjectResult, Verdict
from tests.results import DIRECT, RESULTS, RULEBOOK, TWICE, WARNED, finding, result


def noting(rule: str, *ids: str) -> list[SubjectResult]:
    note = msgspec.structs.replace(finding(DIRECT, f"says {rule}"), rule=rule, fates={"2.8.3": "survives"})
    return [SubjectResult(id=name, title="t", verdict="pass", findings=(note, note)) for name in ids]


def test_what_is_worth_a_note_is_said_once_a_rule() -> None:
    text = pretty_text(result(*noting("odd", "a.1"), *noting("frequent", "a.2", "a.3", "a.4")), RULEBOOK)
    assert "Notes       frequent: says frequent (in 3 cases, as a.2)\n            odd: says odd (in a.1)\n" in text
    assert "Notes" not in pretty_text(RESULTS["fail"], RULEBOOK)


@pytest.mark.parametrize(
    ("rules", "lines", "last"), [(5, 5, "n4: says n4 (in a.4)"), (8, 5, "and 4 more: n4, n5, n6, n7")]
)
def test_notes_are_never_noisy(rules: int, lines: int, last: str) -> None:
    subjects = [subject for number in range(rules) for subject in noting(f"n{number}", f"a.{number}")]
    text = pretty_text(result(*subjects), RULEBOOK)
    shown = text.partition("Notes")[2].partition("\n\n")[0].splitlines()
    assert len(shown) == lines
    assert shown[-1].strip() == last


def test_a_note_that_the_version_punishes_is_a_warning_and_no_note() -> None:
    assert "Notes" not in pretty_text(result(WARNED), RULEBOOK)
    assert "Notes" in pretty_text(result(WARNED, storm="2.5.0"), RULEBOOK)


def test_known_failures_are_listed_and_flaky_ones_shown_like_failures() -> None:
    known = [SubjectResult(id=f"a.{number}", title="t", verdict="xfail", reason="r") for number in range(2)]
    flaky = msgspec.structs.replace(TWICE, verdict="flaky", reason="failed 1 of 3 times: tuple 5 was acked twice")
    text = pretty_text(result(*known, flaky), RULEBOOK)
    assert "Known failures  a.0, a.1\n" in text
    assert "FLAKY  bolt.settle.once  Each tuple is settled once\n" in text
    assert "-->     3    0.021s out" in text
    assert text.splitlines()[-2] == "FAIL  1 flaky, 2 known failures (of 3 tested)  in 3.1s"


@pytest.mark.parametrize(("known", "passed", "said"), [(3, 4, "3 known failures  in"), (3, 3, "(of 6 tested)")])
def test_a_list_of_known_failures_that_swallows_half_of_a_suite_is_told(known: int, passed: int, said: str) -> None:
    verdicts = ["xfail"] * known + ["pass"] * passed
    run = result(
        *(SubjectResult(id=f"a.{n}", title="t", verdict=cast("Verdict", verdict)) for n, verdict in enumerate(verdicts))
    )
    assert said in summary_of(run)
