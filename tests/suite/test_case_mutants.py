"""Each case shows the bug that it is for: a bolt or spout with that bug is red in it, by the rule that it names."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.suite.runner.suite_run import run_suite
from tests.running import rules_of

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.model import RunResult

pytestmark = pytest.mark.component

MUTANTS = Path(__file__).parents[1] / "mutants"
FILES: dict[str, Kind] = {"bolt_input": "bolt", "spout_more": "spout"}
SCHEMA = {"prefixItems": [{"type": "string"}, {"type": "integer"}]}
STREAMS = {
    "default": StreamDeclaration(("word", "n")),
    "strict": StreamDeclaration(("word", "n"), schema=SCHEMA),
    "jobs": StreamDeclaration(("word", "n"), direct=True),
}


def mutants(file: str) -> dict[str, Any]:
    found: dict[str, Any] = runpy.run_path(str(MUTANTS / f"{file}.py"), run_name="mutants")["MUTANTS"]
    return found


def play(file: str, name: str, record: Path, *cases: str, accepts: tuple[str, ...] = ()) -> RunResult:
    streams = dict(STREAMS)
    if cases and cases[0].endswith(".schema"):
        streams["default"] = streams["strict"]
    component = Component(
        command=(sys.executable, str(MUTANTS / f"{file}.py"), name),
        kind=FILES[file],
        streams=streams,
        samples=(["a b", 1], ["c d", 2]),
        accepts=accepts,
        conf={"topology.subprocess.timeout.secs": 1} if name.startswith("slow-") else {},
        limits={"settle": 20.0, "heartbeat": 20.0},
    )
    return run_suite(component, RunOptions(record=str(record), include=cases, strict=True, exhaustive=True))


PAIRS = [(file, name) for file in FILES for name in mutants(file)]
TRIES = {"busy": 60}
"""Answers that come too fast: a busy machine makes them slower, and hides them for a while."""


@pytest.mark.sample(6)
@pytest.mark.parametrize(("file", "name"), PAIRS, ids=[f"{file}-{name}" for file, name in PAIRS])
def test_the_case_names_the_bug(file: str, name: str, tmp_path: Path) -> None:
    mutant = mutants(file)[name]
    accepts = (mutant.accepts,) if mutant.accepts else ()
    for _ in range(TRIES.get(name, 1)):
        result = play(file, name, tmp_path, mutant.case, accepts=accepts)
        if mutant.rule in rules_of(result):
            break
    (subject,) = result.subjects
    assert mutant.rule in rules_of(result), (subject.verdict, subject.reason)
    assert subject.verdict in {"fail", "warn"} or mutant.rule == "never-an-id"
    assert result.exit_code == (0 if mutant.rule == "never-an-id" else 1)


ALL = ("ticks", "text", "large", "integers", "floats", "null", "nested", "empty", "arity")


@pytest.mark.sample(1)
@pytest.mark.parametrize("file", FILES)
def test_without_a_bug_every_case_is_green(file: str, tmp_path: Path) -> None:
    accepts = tuple(word for word in ALL if word not in {"empty", "arity", "nested", "null"})
    result = play(file, "none", tmp_path, accepts=accepts)
    assert {s.id: s.reason for s in result.subjects if s.verdict not in {"pass", "skip"}} == {}
    assert rules_of(result) == set()


def test_a_bolt_that_does_not_take_our_tuple_is_not_to_blame(tmp_path: Path) -> None:
    script = tmp_path / "picky.py"
    script.write_text((MUTANTS.parent / "right" / "bolts.py").read_text(encoding="utf-8"), encoding="utf-8")
    component = Component(command=(sys.executable, str(script), "picky"), kind="bolt")
    result = run_suite(component, RunOptions(record=str(tmp_path), strict=True, exhaustive=True))
    assert {s.id: s.reason for s in result.subjects if s.verdict not in {"pass", "skip", "untestable"}} == {}
    assert result.exit_code == 6


RECKONS = """
import json, os, sys
def read():
    lines = []
    while (line := sys.stdin.buffer.readline()) != b"end\\n":
        if not line: sys.exit(0)
        lines.append(line)
    return json.loads(b"".join(lines))
def send(message): sys.stdout.write(json.dumps(message) + "\\nend\\n"); sys.stdout.flush()
open(os.path.join(read()["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
while True:
    m = read()
    if m["stream"] == "__heartbeat": send({"command": "sync"}); continue
    value = m["tuple"][0] * 10 ** 10 if isinstance(m["tuple"][0], float) else m["tuple"][0] + 1
    send({"command": "emit", "anchors": [m["id"]], "tuple": [value], "need_task_ids": False})
    send({"command": "ack", "id": m["id"]})
"""


@pytest.mark.parametrize("sample", [[3], [3.5]], ids=["integer", "float"])
def test_reckoning_with_what_was_never_promised_is_no_failure(tmp_path: Path, sample: list[Any]) -> None:
    script = tmp_path / "reckons.py"
    script.write_text(RECKONS, encoding="utf-8")
    component = Component(command=(sys.executable, str(script)), kind="bolt", samples=(sample,))
    result = run_suite(
        component, RunOptions(record=str(tmp_path), include=("bolt.value",), strict=True, exhaustive=True)
    )
    assert {s.id: s.verdict for s in result.subjects if s.verdict not in {"pass", "skip"}} == {}
    strict = msgspec.structs.replace(component, accepts=("integers", "floats"))
    result = run_suite(strict, RunOptions(record=str(tmp_path), include=("bolt.value",), strict=True, exhaustive=True))
    assert result.exit_code == 1


def test_what_a_bolt_never_promised_to_take_is_no_failure(tmp_path: Path) -> None:
    for name in ("int32", "no-fractions"):
        case = mutants("bolt_input")[name].case
        (subject,) = play("bolt_input", name, tmp_path, case).subjects
        assert (subject.verdict, subject.findings) == ("skip", ())
        assert 'accepts = ["' in subject.reason


def without_ackers(file: str, name: str, record: Path, *cases: str) -> RunResult:
    component = Component(
        command=(sys.executable, str(MUTANTS.parent / file), name), kind="spout", conf={"topology.acker.executors": 0}
    )
    return run_suite(component, RunOptions(record=str(record), include=cases, strict=True, exhaustive=True))


def test_without_ackers_the_deadlock_is_storms_and_named(tmp_path: Path) -> None:
    result = without_ackers("mutants/spout.py", "waits-for-ids-only", tmp_path, "spout.sync.next")
    (subject,) = result.subjects
    assert [(finding.rule, finding.fates["2.8.3"]) for finding in subject.findings] == [("ackers-zero", "hangs")]
    assert (subject.verdict, result.exit_code) == ("warn", 1)


def test_without_ackers_who_does_not_wait_for_task_ids_is_right(tmp_path: Path) -> None:
    result = without_ackers("right/spouts.py", "burst", tmp_path, "spout.sync", "spout.id")
    assert (rules_of(result), result.exit_code) == (set(), 0)
    assert {s.id for s in result.subjects if s.verdict == "skip"} >= {"spout.sync.ack", "spout.sync.fail"}
