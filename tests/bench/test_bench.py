"""`mlcheck bench`: figures that hold together, and what it says of a component that is wrong."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.bench.histogram import BITS, Histogram
from multilang_cli.bench.summing import WindowFigures, ratios_of, sentences_of
from multilang_cli.catalogue import schemas
from tests.command import BOLT, MUTANT_BOLT, ROOT, SPOUT, mlcheck, refusal
from tests.pages import PageFile

if TYPE_CHECKING:
    from pathlib import Path

SHORT = ("--rounds", "1", "--seconds", "0.1")


@given(st.lists(st.integers(0, 10**13), min_size=1), st.floats(0.01, 1.0))
def test_a_histogram_is_as_precise_as_it_says(values: list[int], share: float) -> None:
    one, other = Histogram(), Histogram()
    for number, value in enumerate(values):
        (one if number % 2 else other).add(value)
    one.merge(other)
    ordered = sorted(values)
    exact = next(value for place, value in enumerate(ordered, 1) if place >= share * len(values))
    assert exact <= one.at(share) <= exact + exact / 2**BITS
    assert (one.count, one.most) == (len(values), max(values))


def cell(window: int, *rates: float) -> WindowFigures:
    return WindowFigures(window, rates, 0.0, {"max": 2e6}, {"max": 5e5}, 0.25, 0.5, 10.0)


def test_ratios_are_of_each_round() -> None:
    (ratio,) = ratios_of([cell(1, 100, 50, 10)], [cell(1, 200, 50, 5)])
    assert ratio == (1, 1.0, 0.5, 2.0)


def test_sentences_name_the_backlog_that_takes_too_long() -> None:
    said = " ".join(sentences_of([cell(1, 10.0), cell(1000, 500.0)], "bolt", 30.0, "2.8.3"))
    assert "with 1000 tuples in flight a heartbeat was answered after 0.5 s at most" in said
    assert "behind 15,000 tuples" in said
    assert "the slowest took 2 s" in sentences_of([cell(1, 10.0)], "spout", 30.0, "2.8.3")[0]


@pytest.mark.component
@pytest.mark.parametrize(("kind", "command"), [("bolt", BOLT), ("spout", SPOUT)])
def test_figures(kind: str, command: str, tmp_path: Path) -> None:
    reports = ["--report", "json=b.json", "--report", "html=b.html"]
    words = ["--kind", kind, "--windows", "1,20", *reports, "--", sys.executable, command]
    ran = mlcheck("bench", *SHORT, *words, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    report = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    assert schemas.explain(report, "bench") == []
    cells = report["candidates"][0]["cells"]
    assert [each["window"] for each in cells] == [1, 20]
    for each in cells:
        assert each["rate"] > 0
        assert each["memory_mib"] > 1
        trips = each["round_trip_us"]
        assert 0 < trips["p50"] <= trips["p99"] <= trips["p999"] <= trips["max"]
    assert report["exit_code"] == 0
    page = PageFile((tmp_path / "b.html").read_text(encoding="utf-8")).carried
    sections = {section["id"]: section for section in page["sections"]}
    assert [len(each["x"]) for each in sections["rates"]["series"]] == [2]
    assert len(sections["figures"]["rows"]) == 2
    assert "trips-1" in sections
    assert schemas.explain(page, "page") == []
    assert "on any of" in ran.stdout


@pytest.mark.component
def test_two_in_turn(tmp_path: Path) -> None:
    command = [sys.executable, BOLT]
    words = ["--kind", "bolt", "--windows", "5", "--compare", shlex.join(command), "--report", "json=-"]
    ran = mlcheck("bench", *SHORT, *words, "--", *command, cwd=tmp_path)
    report = json.loads(ran.stdout)
    assert schemas.explain(report, "bench") == []
    assert len(report["candidates"]) == 2
    assert [ratio["window"] for ratio in report["ratios"]] == [5]
    assert report["ratios"][0]["middle"] > 0


@pytest.mark.component
def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    words = ["--kind", "bolt", "--", sys.executable, MUTANT_BOLT]
    wrong = mlcheck("bench", *SHORT, "--report", "json=b.json", *words, "ack-twice", cwd=tmp_path)
    assert wrong.returncode == 1
    report = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    assert schemas.explain(report, "bench") == []
    assert report["exit_code"] == 1
    assert "ack-twice: ack of a tuple that is settled already" in wrong.stdout
    silent = mlcheck("bench", *SHORT, "--limit", "pid=20", *words, "handshake-silent", cwd=tmp_path)
    assert silent.returncode == 3
    assert "no first message" in refusal(silent)


@pytest.mark.component
def test_a_bolt_that_settles_five_together_is_not_accused(tmp_path: Path) -> None:
    batches = [sys.executable, str(ROOT / "tests" / "right" / "bolts.py"), "batch-of-5"]
    late = mlcheck(
        "bench", *SHORT, "--kind", "bolt", "--windows", "4", "--limit", "settle=2", "--", *batches, cwd=tmp_path
    )
    assert late.returncode == 6
    assert "tuple-unsettled" in late.stdout


@pytest.mark.component
def test_a_bolt_that_settles_late_can_not_be_measured(tmp_path: Path) -> None:
    words = json.dumps([sys.executable, BOLT])
    declared = f'[[component]]\nname = "late"\nkind = "bolt"\nsettles = "on-tick"\ncommand = {words}\n'
    (tmp_path / "mlcheck.toml").write_text(declared, encoding="utf-8")
    ran = mlcheck("bench", *SHORT, cwd=tmp_path)
    assert ran.returncode == 6
    assert "it settles on-tick" in refusal(ran)


@pytest.mark.component
@pytest.mark.parametrize(
    "option", [("--windows", "0"), ("--windows", "x"), ("--cpus", "three"), ("--report", "junit=x")]
)
def test_misuse(option: tuple[str, str], tmp_path: Path) -> None:
    ran = mlcheck("bench", *option, "--kind", "bolt", "--", sys.executable, BOLT, cwd=tmp_path)
    assert ran.returncode == 2
    assert option[0] in refusal(ran)
