"""Who is to blame for a death, a failed tuple or silence: the tuple that was made up, or the component."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.suite.options import Component, RunOptions, Source
from multilang_cli.suite.runner import run_suite
from tests.sessions import PID

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.reports.model import RunResult

pytestmark = pytest.mark.component

CODE = """
import signal, time
shake()
fed = 0
while True:
    tup = message()
    if isinstance(tup, list): continue
    if tup["stream"] == "__heartbeat":
        say('{"command":"sync"}\\nend\\n')
        continue
    fed += 1
    answer = "ack"
    %s
    say('{"command":"%%s","id":"%%s"}\\nend\\n' %% (answer, tup["id"]))
"""
CASES = ("bolt.heartbeat.idle", "bolt.heartbeat.two-in-a-row", "bolt.settle.once")


def played(tmp_path: Path, deed: str, *cases: str, **declared: Any) -> RunResult:
    script = tmp_path / "bolt.py"
    script.write_text(PID + CODE % deed)
    component = Component(command=(sys.executable, "-I", "-S", str(script)), **declared)
    options = RunOptions(record=str(tmp_path), include=cases or CASES, timeout=5.0)
    return run_suite(component, options)


REFUSES = {
    'tup["tuple"][1]': "it dies of a made-up tuple: IndexError: list index out of range; give a sample",
    '{}["user"]': "it dies of a made-up tuple: KeyError: 'user'; tell the names of its input's fields (--input ",
    "sys.exit(7)": "it dies of a made-up tuple: exit code 7; give a sample",
    "os.kill(os.getpid(), signal.SIGSEGV)": "it dies of a made-up tuple: killed by signal 11; give a sample",
    'answer = "fail"': "it fails a made-up tuple; give a sample",
}


@pytest.mark.parametrize("deed", REFUSES)
def test_what_a_bolt_does_at_its_first_made_up_tuple_says_nothing(tmp_path: Path, deed: str) -> None:
    result = played(tmp_path, deed)
    verdicts = {each.id: each.verdict for each in result.subjects}
    assert verdicts == dict(zip(CASES, ("pass", "untestable", "untestable"), strict=True))
    reasons = [each.reason for each in result.subjects if each.verdict == "untestable"]
    assert all(reason.startswith(REFUSES[deed]) for reason in reasons), reasons
    assert result.exit_code == 6


def test_silence_at_the_first_made_up_tuple_says_nothing(tmp_path: Path) -> None:
    (subject,) = played(tmp_path, "while True: time.sleep(60)", "bolt.settle.once").subjects
    assert subject.verdict == "untestable"
    assert subject.reason.startswith("it falls silent at a made-up tuple; give a sample")


def test_fields_that_were_told_are_not_asked_for_again(tmp_path: Path) -> None:
    result = played(tmp_path, '{}["user"]', "bolt.settle.once", sources=(Source("a", fields=("x",)),))
    (subject,) = result.subjects
    assert subject.reason.startswith("it dies of a made-up tuple: KeyError: 'user'; give a sample")


@pytest.mark.parametrize(
    "deed",
    [
        # It took one such tuple: in this case, or in another.
        'fed > 1 and tup["tuple"][1]',
        'fed > 19 and tup["tuple"][1]',
        # No tuple makes a process do that.
        "os.close(1); time.sleep(60)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
    ],
)
def test_a_bolt_that_took_it_or_stopped_itself_is_to_blame(tmp_path: Path, deed: str) -> None:
    result = played(tmp_path, deed, "bolt.settle.once")
    assert [each.verdict for each in result.subjects] == ["fail"], result.subjects[0].reason
    assert result.exit_code == 1


def test_a_bolt_that_takes_it_in_another_case_is_to_blame(tmp_path: Path) -> None:
    # A tuple after a heartbeat kills it; one before is taken.
    code = PID + CODE % "'beaten' in globals() and sys.exit(1)"
    code = code.replace("        continue", "        beaten = 1\n        continue")
    (tmp_path / "bolt.py").write_text(code)
    component = Component(command=(sys.executable, "-I", "-S", str(tmp_path / "bolt.py")))
    result = run_suite(component, RunOptions(record=str(tmp_path), include=CASES, timeout=5.0))
    verdicts = {each.id: each.verdict for each in result.subjects}
    assert verdicts == dict(zip(CASES, ("pass", "fail", "pass"), strict=True))


def test_with_a_sample_every_death_is_its_own(tmp_path: Path) -> None:
    result = played(tmp_path, 'tup["tuple"][1]', "bolt.settle.once", samples=(["a"],))
    assert [each.verdict for each in result.subjects] == ["fail"]
