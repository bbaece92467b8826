"""``mlcheck replay`` and ``mlcheck diff`` as their users meet them: what is shown, the exit codes, the reports."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.command import MUTANT_BOLT, mlcheck, refusal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two recordings: of a right bolt, and of one that acks twice."""
    folder = tmp_path_factory.mktemp("replay")
    for name, bug in (("right", "none"), ("twice", "ack-twice")):
        words = ["run", "--kind", "bolt", "--record", name, "--record-all", "-k", "bolt.settle.once", "--stream"]
        mlcheck(*words, "default:word", "--", sys.executable, MUTANT_BOLT, bug, cwd=folder)
        (folder / name / "bolt.settle.once.ndjson").rename(folder / f"{name}.ndjson")
    return folder


def test_the_same_is_0(folder: Path) -> None:
    ran = mlcheck("replay", "right.ndjson", "--", sys.executable, MUTANT_BOLT, "none", cwd=folder)
    assert ran.returncode == 0
    assert "SAME  " in ran.stdout
    assert "Record: .mlcheck/last/replay-right.ndjson" in ran.stdout
    assert mlcheck("diff", "right.ndjson", ".mlcheck/last/replay-right.ndjson", cwd=folder).returncode == 0


def test_a_difference_is_1_and_named(folder: Path) -> None:
    command = [sys.executable, MUTANT_BOLT, "ack-twice"]
    ran = mlcheck("replay", "right.ndjson", "--report", "json=it.json", "--", *command, cwd=folder)
    assert ran.returncode == 1
    assert "new      ack of tuple 1: it is new" in ran.stdout
    assert "and 19 more like it" in ran.stdout
    assert "found    ack-twice (must, event" in ran.stdout
    assert "Next: mlcheck diff right.ndjson .mlcheck/last/replay-right.ndjson" in ran.stdout
    report = json.loads((folder / "it.json").read_text())
    assert mlcheck("schema", "validate", "report", "it.json", cwd=folder).returncode == 0
    assert [subject["kind"] for subject in report["subjects"]] == ["conversation", *["difference"] * 20]
    assert (report["verdict"], report["exit_code"]) == ("not-conformant", 1)


def test_what_is_mended_is_a_difference(folder: Path) -> None:
    ran = mlcheck("diff", "twice.ndjson", "right.ndjson", "-q", cwd=folder)
    assert ran.returncode == 1
    assert ran.stdout == "DIFFERENT  20 missing of 161 messages; 1 finding is gone\n"


def test_what_one_recording_lost_is_no_difference(folder: Path) -> None:
    """Behind a line that it lost nobody knows what it said; before that, and of a breach, it is known all the same."""
    for name in ("right", "twice"):
        lines = (folder / f"{name}.ndjson").read_text().splitlines(keepends=True)
        acks = [number for number, line in enumerate(lines) if '"command":"ack"' in line.replace(" ", "")]
        lost = [line for number, line in enumerate(lines) if number != acks[-1]]
        (folder / f"lost-{name}.ndjson").write_text("".join(lost))
    codes = {
        ("twice", "lost-twice"): 6,
        ("lost-twice", "twice"): 6,
        ("right", "lost-right"): 6,
        ("lost-right", "right"): 6,
        ("right", "lost-twice"): 1,
        ("twice", "lost-right"): 1,
        ("lost-right", "twice"): 1,
        ("lost-twice", "right"): 1,
    }
    for (then, now), code in codes.items():
        ran = mlcheck("diff", f"{then}.ndjson", f"{now}.ndjson", cwd=folder)
        assert (then, now, ran.returncode) == (then, now, code)
        assert ("INCONCLUSIVE" if code == 6 else "DIFFERENT") in ran.stdout


def test_it_goes_on_by_hand_in_that_state(folder: Path) -> None:
    """Behind the third tuple, whose answers are awaited, a fourth is given by hand."""
    sent = [json.loads(line) for line in (folder / "right.ndjson").read_text().splitlines()]
    tuples = [line["seq"] for line in sent if line.get("ch") == "in" and line["msg"].get("stream") == "default"]
    words = ["replay", "right.ndjson", "--until", str(tuples[2]), "--then", "repl", "--", sys.executable, MUTANT_BOLT]
    ran = mlcheck(*words, "none", cwd=folder, stdin='tuple ["one more"]\npending\n')
    assert ran.returncode == 0
    assert ran.stdout.count('"command":"ack"') == 4
    assert '"tuple":["one"]' in ran.stdout
    assert "nothing is pending" in ran.stdout
    assert f"right.ndjson was played up to event {tuples[2]}; go on by hand" in ran.stderr


def test_before_the_message_that_went_wrong_it_is_at_the_keyboard(folder: Path) -> None:
    """The first tuple is acked twice, and was given together with others: none of them is sent before."""
    sent = [json.loads(line) for line in (folder / "twice.ndjson").read_text().splitlines()]
    first = next(line for line in sent if line.get("ch") == "in" and line["msg"].get("stream") == "default")
    words = ["replay", "twice.ndjson", "--until", "finding", "--then", "repl", "--", sys.executable, MUTANT_BOLT]
    ran = mlcheck(*words, "ack-twice", cwd=folder, stdin="pending\n")
    assert f"was played up to the message that went wrong, event {first['seq']}; go on by hand: tuple [" in ran.stderr
    assert "nothing is pending" in ran.stdout
    assert '"command":"ack"' not in ran.stdout


def test_a_component_without_a_first_message_is_3(folder: Path) -> None:
    command = [sys.executable, MUTANT_BOLT, "handshake-silent"]
    ran = mlcheck("replay", "right.ndjson", "--timeout", "2", "--", *command, cwd=folder)
    assert ran.returncode == 3
    assert "NO FIRST MESSAGE" in ran.stdout
    assert mlcheck("replay", "right.ndjson", "--", "./nothing", cwd=folder).returncode == 3


MISUSES = [
    (["replay", "no.ndjson", "--", "true"], "no.ndjson: can't be read"),
    (["replay", "right.ndjson"], "which component?"),
    (["replay", "right.ndjson", "--ignore", "wrod", "--", "true"], "did you mean word?"),
    (["replay", "right.ndjson", "--compare", "log", "--", "true"], "did you mean logs?"),
    (["replay", "right.ndjson", "--until", "100000", "--", "true"], "expected the number of an event up to"),
    (["replay", "right.ndjson", "--then", "emacs", "--", "true"], "only `repl` can come then"),
    (["diff", "right.ndjson", "no.ndjson"], "no.ndjson: can't be read"),
]


@pytest.mark.parametrize(("words", "why"), MISUSES, ids=[" ".join(words[:4]) for words, _ in MISUSES])
def test_misuse_is_2_and_a_sentence(words: list[str], why: str, folder: Path) -> None:
    ran = mlcheck(*words, cwd=folder)
    assert why in refusal(ran)
    assert ran.returncode == 2


def test_a_recording_of_nothing_is_4(folder: Path) -> None:
    header = (folder / "right.ndjson").read_text().splitlines()[0]
    (folder / "empty.ndjson").write_text(f"{header}\n")
    ran = mlcheck("replay", "empty.ndjson", "--", "true", cwd=folder)
    assert "nothing can be played" in refusal(ran)
    assert ran.returncode == 4
