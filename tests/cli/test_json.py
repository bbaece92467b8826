"""``--json`` of every command: one document on stdout, with the keys that docs/json.md promises."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.catalogue import schemas
from multilang_cli.cli.commands import COMMANDS
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.kafka.lag import Lag
from tests.command import MUTANT_BOLT, ROOT, mlcheck

if TYPE_CHECKING:
    from pathlib import Path

TEXT = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
OUTPUTS, FACTS, NONE = ([line for line in part.splitlines() if line[:3] == "| `"] for part in TEXT.split("\n\n|")[1:])
ROWS = {row.split("|")[1].strip(" `"): re.findall(r"`(\w+)`", row.split("|")[3]) for row in FACTS}
BROKEN = "Pipe to subprocess seems to be broken! No output read."


def named(rows: list[str]) -> set[str]:
    return {name for row in rows for name in re.findall(r"`([a-z -]+)`", row.split("|")[1])}


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    code = dispatch([*words, "--json"])
    assert code in {0, 1}
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_it_or_the_docs_say_why_not(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    dispatch([*name.split(), "--help"])
    assert ("--json" in capsys.readouterr().out) == (name in named(OUTPUTS) | set(ROWS))
    assert (name in named(NONE)) != (name in named(OUTPUTS) | set(ROWS))


@pytest.mark.parametrize("name", [*(name for name in ROWS if name.startswith("list")), "schema list"])
def test_lists_have_the_keys_that_are_promised(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, *name.split())
    assert found
    assert {tuple(each) for each in found} == {tuple(ROWS[name])}


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("ack-twice", "rule"),
        ("adapter-missing", "cause"),
        ("bolt.settle.once", "case"),
        ("bolt.ack.once", "sentence"),
        (BROKEN, "text"),
    ],
)
def test_explanations_say_what_they_are_about(name: str, about: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "explain", name)
    assert found["about"] == about
    assert found.get("id", name) == name


def test_a_log_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "worker.log"
    log.write_text(f"a line\njava.lang.RuntimeException: {BROKEN}\n", encoding="utf-8")
    found = printed(capsys, "explain", "--log", str(log))
    assert (found["about"], found["lines"], found["found"][0]["line"]) == ("log", 2, 2)


def test_pages_of_the_docs(capsys: pytest.CaptureFixture[str]) -> None:
    assert {tuple(each) for each in printed(capsys, "docs")} == {("name", "title")}
    found = {tuple(each) for each in printed(capsys, "docs", "heartbeat")}
    assert found == {("about", "name", "title", "headings"), ("about", "name", "title")}
    assert printed(capsys, "docs", "json")["text"] == TEXT


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("config show", ["config", "show"]),
        ("topology explain", ["topology", "explain"]),
        ("schema validate", ["schema", "validate", "config", "wrong.toml"]),
        ("new", ["new", "bolt", "--language", "python", "words"]),
        ("init", ["init", "--output", "made.toml", str(ROOT / "examples" / "python")]),
    ],
)
def test_facts_have_the_keys_that_are_promised(
    name: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.toml").write_text("color = 1\n", encoding="utf-8")
    found = printed(capsys, *words)
    each = found[0] if isinstance(found, list) else found
    assert list(each) == ROWS[name][: len(each)]
    assert len(each) >= min(4, len(ROWS[name]))


def test_lag_has_the_keys_that_are_promised() -> None:
    assert [*Lag.__struct_fields__] == ROWS["kafka lag"]


def test_a_plan_holds_to_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    plan = printed(capsys, "topology", "plan", str(ROOT / "examples" / "topologies" / "aggregate.yaml"))
    assert list(schemas.explain(plan, "plan")) == []


def test_nothing_of_a_component_moves_the_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = tmp_path / "wrong.json"
    hostile.write_text(json.dumps({"\x9b2J": 1}), encoding="utf-8")
    assert dispatch(["schema", "validate", "config", str(hostile), "--json"]) == 1
    assert "\x9b" not in capsys.readouterr().out


@pytest.mark.component
def test_results_are_reports_and_what_is_made_of_recordings_is_told(tmp_path: Path) -> None:
    ran = mlcheck("run", "--json", "-k", "bolt.settle.once", "--", "python3", MUTANT_BOLT, "ack-twice", cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    assert list(schemas.explain(json.loads(ran.stdout), "report")) == []
    recording = ".mlcheck/last/bolt.settle.once.ndjson"
    linted = mlcheck("lint", "--json", recording, cwd=tmp_path)
    assert list(schemas.explain(json.loads(linted.stdout), "report")) == []
    promoted = mlcheck("promote", "--json", recording, cwd=tmp_path)
    assert list(json.loads(promoted.stdout)) == ROWS["promote"]
    shrunk = mlcheck("shrink", "--json", recording, "--", "python3", MUTANT_BOLT, "ack-twice", cwd=tmp_path)
    assert list(json.loads(shrunk.stdout)) == ROWS["shrink"]
    bench = ["--windows", "1", "--rounds", "1", "--seconds", "0.05", "--kind", "bolt"]
    measured = mlcheck("bench", "--json", *bench, str(ROOT / "examples" / "python" / "split_bolt.py"), cwd=tmp_path)
    assert list(schemas.explain(json.loads(measured.stdout), "bench")) == []


@pytest.mark.parametrize(
    "line",
    [
        "explain --json nothing-such",
        "docs --json xyzzyq",
        "lint --json none.ndjson",
        "diff --json none.ndjson none.ndjson",
        "matrix --json none -o out",
        "replay --json none.ndjson",
        "run --json --case none bolt.py",
        "topology run --json none.yaml",
        "schema validate --json config none.toml",
    ],
)
def test_a_command_that_can_not_begin_leaves_stdout_empty(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(line.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("mlcheck: ")
