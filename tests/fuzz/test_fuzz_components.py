"""`mlcheck fuzz` with real components: what it finds in mutants, what it says of right ones, and how it ends."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.fuzz import fuzzing
from multilang_cli.fuzz.fuzzing import FuzzFlags, Fuzzing, fuzz_given
from multilang_cli.reports.formats.console import summary_of
from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.subject.subject import Subject
from multilang_cli.terminal.exits import CommandError
from tests.command import BOLT, MUTANT_BOLT, SPOUT, mlcheck, refusal
from tests.components import unusual
from tests.running import rules_of

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.model import RunResult

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

MUTANTS = Path(__file__).parents[1] / "mutants"
STREAMS = {"default": StreamDeclaration(("word", "n")), "jobs": StreamDeclaration(("word", "n"), direct=True)}
FOUND: dict[str, tuple[str, ...]] = {
    "bolt": ("exits-after-10", "drops-while-waiting", "ack-heartbeat", "wrong-arity"),
    "bolt_input": ("read-is-a-heartbeat", "ignores-ticks", "no-tasks"),
    "spout": ("exits-after-5", "id-retyped", "sync-twice"),
    "spout_more": ("stays-closed", "forgets-when-idle"),
}
"""Mutants that a search with this seed must find, by their files."""
PAIRS = [(file, name) for file, names in FOUND.items() for name in names]
QUIET = ("bolt-threads", "bolt-on-tick", "bolt-batch-of-5", "spout-logs", "spout-reads-ids", "spout-finite")
"""Right components that CI tries; all of them, and with many more conversations: ``python -m benchmarks.fuzz``."""


def run(component: Component, folder: Path, conversations: int) -> RunResult:
    checked = Subject.of(component, RunOptions(record=str(folder / "record"), strict=True, seed=1))
    checked.record.mkdir()
    asked = FuzzFlags(conversations=conversations, max_time=60.0, database=str(folder / "database"), quiet=True)
    return Fuzzing(checked, asked).run()


def mutant(file: str, name: str) -> tuple[Component, str]:
    """A mutant, declared as it should be, and the rule that it breaks."""
    told: Any = runpy.run_path(str(MUTANTS / f"{file}.py"), run_name="mutants")["MUTANTS"][name]
    kind: Kind = "bolt" if file.startswith("bolt") else "spout"
    two = file in {"bolt_input", "spout_more"}
    component = Component(
        command=(sys.executable, str(MUTANTS / f"{file}.py"), name),
        kind=kind,
        samples=(["a b", 1], ["c d", 2]) if two else (["a b"],),
        streams=STREAMS if two else {"default": StreamDeclaration(("word",))},
        accepts=(told.accepts,) if getattr(told, "accepts", "") else (),
    )
    return component, told.rule


@pytest.mark.sample(2)
@pytest.mark.parametrize(("file", "name"), PAIRS, ids=[f"{file}-{name}" for file, name in PAIRS])
def test_a_mutant_is_found(file: str, name: str, tmp_path: Path) -> None:
    component, rule = mutant(file, name)
    result = run(component, tmp_path, 400)
    assert rule in rules_of(result), result.notes
    assert (result.subjects[0].id, result.exit_code) == (f"fuzz.{rule}", 1)
    assert result.subjects[0].transcript is not None
    assert Path(result.subjects[0].transcript).is_file()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", QUIET)
def test_nothing_is_found_where_nothing_is_wrong(name: str, tmp_path: Path) -> None:
    result = run(unusual()[name], tmp_path, 40)
    assert {
        subject.id: (subject.verdict, subject.reason) for subject in result.subjects if subject.verdict != "pass"
    } == {}
    assert (result.exit_code, result.complete) == (0, True)


def test_what_is_found_is_played_again_as_a_case(tmp_path: Path) -> None:
    words = ["--kind", "bolt", "--", sys.executable, MUTANT_BOLT, "ack-twice"]
    ran = mlcheck(
        "fuzz", "--seed", "5", "--save-case", "own/found.yaml", "--report", "json=r.json", *words, cwd=tmp_path
    )
    assert ran.returncode == 1, ran.stderr
    assert "--seed 5" in ran.stdout
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [subject["id"] for subject in report["subjects"]] == ["fuzz.ack-twice"]
    left = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / ".mlcheck" / "last").iterdir()}
    assert left == dict.fromkeys(("fuzz.ack-twice.ndjson", "fuzz.ack-twice.yaml"), 0o600)
    again = mlcheck("run", "--suite", "own/found.yaml", "-k", "fuzz.ack-twice", *words, cwd=tmp_path)
    assert again.returncode == 1
    assert "FAIL  it settles a tuple twice: ack of a tuple that is settled already" in again.stdout
    known = mlcheck("fuzz", *words, cwd=tmp_path)
    assert "found by an earlier run, and tried first" in " ".join(known.stdout.split())


@pytest.mark.parametrize("command", [BOLT, SPOUT], ids=["bolt", "spout"])
def test_conformant(command: str, tmp_path: Path) -> None:
    ran = mlcheck("fuzz", "--conversations", "10", "-q", "--", sys.executable, command, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("PASS  1 passed")


def test_no_first_message_and_a_tuple_that_it_does_not_take(tmp_path: Path) -> None:
    silent = mlcheck("fuzz", "--kind", "bolt", "--", sys.executable, "-c", "raise SystemExit(7)", cwd=tmp_path)
    assert silent.returncode == 3
    assert "NO FIRST MESSAGE" in silent.stdout
    fails = mlcheck(
        "fuzz",
        "--kind",
        "bolt",
        "--",
        sys.executable,
        str(MUTANTS.parent / "right" / "bolts.py"),
        "fails-all",
        cwd=tmp_path,
    )
    assert fails.returncode == 6
    assert "give a sample" in fails.stdout


def test_misuse(tmp_path: Path) -> None:
    ran = mlcheck("fuzz", "--conversations", "0", "--", sys.executable, BOLT, cwd=tmp_path)
    assert ran.returncode == 2
    assert "--conversations" in refusal(ran)
    ran = mlcheck("fuzz", "--database", __file__, "--", sys.executable, BOLT, cwd=tmp_path)
    assert ran.returncode == 2
    assert "that is no directory" in refusal(ran)


def test_without_hypothesis_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "find_spec", lambda _: None)
    with pytest.raises(CommandError, match=r"pip install 'multilang-cli\[fuzz\]'") as refused:
        fuzz_given(FuzzFlags(conversations=1, max_time=1.0, database=""))
    assert refused.value.code == 2


INTERRUPTS = """
import os, pathlib, signal, sys
starts = pathlib.Path("starts"); starts.touch()
with starts.open("a") as file: file.write("x")
if starts.stat().st_size == 8: os.kill(os.getppid(), signal.SIGINT)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def test_an_interrupt_keeps_the_smallest_so_far(tmp_path: Path) -> None:
    script = tmp_path / "interrupts.py"
    script.write_text(INTERRUPTS, encoding="utf-8")
    words = ["--kind", "bolt", "--", sys.executable, str(script), MUTANT_BOLT, "ack-twice"]
    ran = mlcheck("fuzz", "--seed", "1", "--report", "json=r.json", *words, cwd=tmp_path)
    assert ran.returncode == 130
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (report["complete"], [subject["id"] for subject in report["subjects"]]) == (False, ["fuzz.ack-twice"])
    assert (tmp_path / ".mlcheck" / "last" / "fuzz.ack-twice.yaml").is_file()


HANGS_AT_THE_FOURTH = """
import json, os, sys, time
def read():
    lines = []
    while (line := sys.stdin.readline()) != "end\\n":
        if not line: os._exit(0)
        lines.append(line)
    return json.loads("".join(lines))
def send(message): os.write(1, json.dumps(message).encode() + b"\\nend\\n")
open(os.path.join(read()["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
for _ in range(3):
    message = read()
    send({"command": "sync"} if message["stream"] == "__heartbeat" else {"command": "ack", "id": message["id"]})
while True: time.sleep(0.01)
"""


@pytest.mark.parametrize(
    ("seconds", "code", "said"),
    [(3.0, 0, "of 300 conversations, then the time was over"), (0.01, 6, "0 of 300 conversations, then the time")],
)
def test_when_time_ends_it_is_said_how_much_was_played(seconds: float, code: int, said: str, tmp_path: Path) -> None:
    program = tmp_path / "bolt.py"
    program.write_text(HANGS_AT_THE_FOURTH, encoding="utf-8")
    checked = Subject.of(
        Component(command=(sys.executable, str(program)), kind="bolt", samples=(["a"],)),
        RunOptions(record=str(tmp_path / "record"), seed=1),
    )
    checked.record.mkdir()
    asked = FuzzFlags(conversations=300, max_time=seconds, database=str(tmp_path / "database"), quiet=True)
    result = Fuzzing(checked, asked).run()
    # What hangs would be found after 31 s: there is no time for that here, and no PASS that hides it.
    assert result.exit_code == code, result
    assert said in summary_of(result)
    assert said in result.extent
    assert result.duration < 31
