"""Cases at once and cases again: the same results in the same order, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from multilang_cli.suite.runner.jobs import Jobs
from tests.command import BOLT, MUTANT_BOLT
from tests.processes import gone, until
from tests.running import rules_of, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.reports.model import RunResult

pytestmark = pytest.mark.component

ROOT = Path(__file__).parents[2]
ONCE = ("bolt.settle.once",)

HANGS = """
import json, os, sys, time
message = json.loads("".join(iter(sys.stdin.readline, "end\\n")))
open(os.path.join(message["pidDir"], str(os.getpid())), "w").close()
print(json.dumps({"pid": os.getpid()}), "end", sep="\\n", flush=True)
open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
time.sleep(1000)
"""

AT_FIRST = """
import os, sys
count, bolt, bug = sys.argv[1:]
before = os.path.getsize(count) if os.path.exists(count) else 0
open(count, "a").write("x")
os.execv(sys.executable, [sys.executable, bolt, bug if before == 0 else "none"])
"""


def told(result: RunResult) -> list[tuple[str, str, list[str]]]:
    return [(each.id, each.verdict, sorted({f.rule for f in each.findings})) for each in result.subjects]


@pytest.mark.parametrize("bug", ["none", "pid-file-filled", "exits-on-unknown-key"])
def test_several_at_once_are_told_as_one_after_another(bug: str, tmp_path: Path) -> None:
    command = [sys.executable, MUTANT_BOLT, bug]
    one, four = (
        run(command, "bolt", tmp_path, include=("handshake",), exclude=("handshake.piecewise*",), jobs=jobs)
        for jobs in (1, 4)
    )
    assert told(four) == told(one)
    assert len(four.subjects) > 4
    assert four.exit_code == one.exit_code
    assert four.complete


def test_the_first_failure_in_order_ends_all_others(tmp_path: Path) -> None:
    bolt = [sys.executable, MUTANT_BOLT, "ack-twice"]
    result = run(bolt, "bolt", tmp_path, include=(*ONCE, "handshake", "stdout"), jobs=4, fail_fast=True)
    told = [(each.id, each.verdict) for each in result.subjects]
    assert told == [("handshake.pid-first", "pass"), ("bolt.settle.once", "fail")]
    assert (result.exit_code, result.complete) == (1, False)
    assert result.untested[0].reason == "stopped at the first failure (-x)"
    assert [path.name for path in tmp_path.iterdir()] == ["bolt.settle.once.ndjson"]


def test_a_run_ends_at_so_many_failures(tmp_path: Path) -> None:
    result = run([sys.executable, MUTANT_BOLT, "ack-twice"], "bolt", tmp_path, max_fail=3)
    assert result.counts["fail"] == 3
    [rest] = [untested for untested in result.untested if "stopped" in untested.reason]
    assert rest.reason == "stopped after 3 failures (--max-fail)"


def test_a_silent_component_ends_all_at_once(tmp_path: Path) -> None:
    result = run(["sh", "-c", "exit 3"], "bolt", tmp_path, include=("handshake",), jobs=4)
    assert (result.exit_code, result.verdict, len(result.subjects)) == (3, "no-first-message", 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_several_at_once(tmp_path: Path, number: int) -> None:
    (tmp_path / "hangs.py").write_text(HANGS)
    pids = tmp_path / "pids"
    pids.mkdir()
    command = ["run", "-j", "4", "--kind=bolt", "--timeout=60", "-k", "bolt", "--report=json=r.json", "--"]
    component = [sys.executable, str(tmp_path / "hangs.py"), str(pids)]
    with subprocess.Popen(
        [sys.executable, "-m", "multilang_cli", *command, *component],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as child:
        assert until(lambda: len(list(pids.iterdir())) >= 4)
        child.send_signal(number)
        _, err = child.communicate(timeout=90)
    assert all(gone(int(path.name)) for path in pids.iterdir())
    assert b"Traceback" not in err
    if number == signal.SIGINT:
        report = json.loads((tmp_path / "r.json").read_text())
        assert (child.returncode, report["verdict"], report["complete"]) == (130, "interrupted", False)
        assert report["untested"][0]["reason"] == "interrupted"
        assert {subject["verdict"] for subject in report["subjects"]} <= {"skip"}


@pytest.mark.parametrize(
    ("bug", "again", "verdict", "reason"),
    [
        ("ack-twice", "none", "flaky", "failed 1 of 2 runs: ack of a tuple that is settled already"),
        ("ack-twice", "ack-twice", "fail", "ack of a tuple that is settled already"),
        ("none", "ack-twice", "pass", ""),
    ],
)
def test_a_case_that_fails_is_played_again(bug: str, again: str, verdict: str, reason: str, tmp_path: Path) -> None:
    script, count, record = tmp_path / "at_first.py", tmp_path / "count", tmp_path / "record"
    script.write_text(AT_FIRST.replace('"none"', f'"{again}"'))
    command = [sys.executable, str(script), str(count), MUTANT_BOLT, bug]
    result = run(command, "bolt", record, include=ONCE, retries=2, samples=(["a b"],))
    (subject,) = result.subjects
    assert (subject.verdict, subject.reason) == (verdict, reason)
    assert len(count.read_text()) == {"flaky": 2, "fail": 3, "pass": 1}[verdict]
    assert result.exit_code == (0 if verdict == "pass" else 1)
    assert rules_of(result) == (set() if verdict == "pass" else {"ack-twice"})
    kept = [] if verdict == "pass" else ["bolt.settle.once.ndjson"]
    assert [path.name for path in record.iterdir()] == kept


def test_a_good_bolt_passes_with_many_at_once(tmp_path: Path) -> None:
    result = run([sys.executable, BOLT], "bolt", tmp_path, jobs=4, samples=(["a b"],), include=("bolt.settle", "end"))
    assert (result.exit_code, result.counts["pass"]) == (0, len(result.subjects))


def test_what_had_finished_is_kept_when_the_rest_is_not_wanted() -> None:
    plays: list[Callable[[], int]] = [lambda number=number: number * number for number in range(9)]  # type: ignore[misc]
    for jobs in (1, 3):
        with Jobs(plays, jobs) as all_of_them:
            assert list(all_of_them) == [number * number for number in range(9)]
        with Jobs(plays, jobs) as some:
            assert next(iter(some)) == 0
        assert some.finished[0] == 0
