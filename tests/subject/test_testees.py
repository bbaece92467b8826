"""The testees of the libraries: right by the whole suite, and wrong in just the way that each mutant says."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import yaml

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_rules
from multilang_cli.protocol.words.messages import SYSTEM_TASK
from multilang_cli.reports.matrix.files import read_matrix, texts_of
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.options import RunOptions
from multilang_cli.subject.testee import read_mutants, read_testee
from multilang_cli.suite.cases.case import Case, load_cases
from multilang_cli.suite.cases.selection import fitting
from multilang_cli.suite.runner.suite_run import available_for, run_suite
from tests.command import SPOUT, mlcheck, refusal
from tests.planted import missed, of_testee

if TYPE_CHECKING:
    from multilang_cli.reports.model import Verdict

ROOT = Path(__file__).resolve().parents[2] / "conformance" / "testees"
DOCS = ROOT.parent.parent / "docs" / "matrix"
FOLDERS = sorted(path.parent for path in ROOT.glob("*/testee.yaml"))
CASES: dict[str, Case] = {case.id: case for suite in ("component", "library") for case in load_cases(suite)}
AGAIN = "python3 dev.py mlcheck matrix conformance/testees -o docs/matrix --brief makes it anew"

each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
each_part = pytest.mark.parametrize(
    ("folder", "part"),
    [
        pytest.param(folder, part.testee, id=f"{folder.name}-{part.testee}")
        for folder in FOLDERS
        for part in read_testee(folder).components()
    ],
)
each_mutant = pytest.mark.parametrize(
    ("folder", "name"),
    [pytest.param(folder, name, id=f"{folder.name}-{name}") for folder in FOLDERS for name in read_mutants(folder)],
)


@pytest.fixture(autouse=True)
def _this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """``python3`` of a testee is this one, as where a virtual environment is active."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def stored(folder: Path, part: str) -> dict[str, Verdict]:
    """What docs/matrix says of a part."""
    [library] = [each for each in read_matrix(DOCS).libraries if each.id == folder.name]
    return next(each.verdicts for each in library.parts if each.name == part)


@pytest.mark.sample(20)
@pytest.mark.library
@pytest.mark.timeout(900)
@each_part
def test_a_testee_passes_what_the_matrix_says(folder: Path, part: str, tmp_path: Path) -> None:
    component = next(each for each in read_testee(folder).components() if each.testee == part)
    # What is known to be wrong is waited for, and waiting costs nothing.
    result = run_suite(component, RunOptions(record=str(tmp_path), jobs=8 if component.known_failures else 2))
    found = {subject.id: subject.verdict for subject in result.subjects}
    expected = stored(folder, part)
    other = [(each.id, each.verdict, each.reason) for each in result.subjects if expected.get(each.id) != each.verdict]
    assert (other, found.keys()) == ([], expected.keys()), AGAIN


@pytest.mark.sample(40)
@pytest.mark.library
@each_mutant
def test_a_mutant_is_killed_by_the_cases_that_claim_it(folder: Path, name: str, tmp_path: Path) -> None:
    [mutant] = [each for each in of_testee(folder) if each.name == name]
    assert missed(mutant, tmp_path) == {}


@pytest.mark.long
def test_a_matrix_tells_of_every_testee_and_every_case() -> None:
    matrix = read_matrix(DOCS)
    parts = {library.id: {part.name: set(part.verdicts) for part in library.parts} for library in matrix.libraries}
    wanted = {
        folder.name: {
            str(part.testee): {case.id for case in fitting(available_for(part, ()), part.kind)}
            for part in read_testee(folder).components()
        }
        for folder in FOLDERS
    }
    assert parts == wanted, AGAIN
    assert {case.id for case in matrix.cases} <= CASES.keys()


def test_what_is_kept_is_one_thing() -> None:
    matrix = read_matrix(DOCS)
    texts = texts_of(matrix)
    assert {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.*")} == texts.keys()
    assert [name for name, text in texts.items() if (DOCS / name).read_text(encoding="utf-8") != text] == []
    assert schemas.explain(json.loads(texts["matrix.json"]), "matrix") == []


def test_every_failure_in_the_matrix_is_explained() -> None:
    troubles = [
        (library.id, part.name, trouble.case)
        for library in read_matrix(DOCS).libraries
        for part in library.parts
        for trouble in part.troubles
        if not trouble.known and trouble.verdict != "warn"
    ]
    assert troubles == []
    assert all(library.started for library in read_matrix(DOCS).libraries)


@each_folder
def test_a_claim_names_a_case_and_a_rule(folder: Path) -> None:
    rules = load_rules()
    for mutant in read_mutants(folder).values():
        assert set(mutant.kills) <= CASES.keys()
        assert set(mutant.kills.values()) <= rules.keys()


def test_a_case_asks_only_for_what_a_testee_can_declare() -> None:
    words = set(schemas.load("testee")["$defs"]["feature"]["enum"])
    assert {word for case in CASES.values() for word in case.supports} <= words
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {
        word for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for word in re.findall(r"`([\w-]+)`", row)
    } >= words


def test_a_folder_without_a_testee_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no testee\.yaml in it"):
        read_testee(tmp_path)


@pytest.mark.parametrize("part", ["bolt", "basic_bolt", "batch_bolt", "spout"])
def test_one_part_is_enough(part: str, tmp_path: Path) -> None:
    plain = yaml.safe_load((ROOT / "component" / "testee.yaml").read_text("utf-8"))
    rest = {key: value for key, value in plain.items() if "bolt" not in key and key != "spout"}
    (tmp_path / "testee.yaml").write_text(yaml.safe_dump({**rest, part: ["./it"]}), encoding="utf-8")
    assert [each.testee for each in read_testee(tmp_path).components()] == [part.removesuffix("_bolt")]


def test_an_unknown_word_is_named_with_its_line(tmp_path: Path) -> None:
    plain = yaml.safe_load((FOLDERS[0] / "testee.yaml").read_text(encoding="utf-8"))
    (tmp_path / "testee.yaml").write_text(yaml.safe_dump({**plain, "supports": ["magic"]}), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"supports.*magic"):
        read_testee(tmp_path)


@pytest.mark.component
def test_only_the_parts_are_played_for_which_something_is_selected(tmp_path: Path) -> None:
    ran = mlcheck("run", "--testee", str(ROOT / "component"), "-k", "library.basic.stream", cwd=tmp_path)
    assert (ran.returncode, "1 passed" in ran.stdout) == (0, True)
    assert "component-spout" not in ran.stdout
    both = ("run", "--testee", str(ROOT / "component"), "-q", "-k", "library.basic.stream")
    ran = mlcheck(*both, "-k", "library.spout.emit.one", "--exclude", "spout.id", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [line.split(":")[0] for line in ran.stdout.splitlines()[:-1]] == ["component-basic", "component-spout"]
    nothing = mlcheck(*both, "-k", "library.spout.emit.onne", cwd=tmp_path)
    assert nothing.returncode == 4
    assert "did you mean library.spout.emit.one?" in refusal(nothing)


@pytest.mark.component
def test_who_did_not_prepare_a_testee_is_told_how(tmp_path: Path) -> None:
    plain = yaml.safe_load((ROOT / "component" / "testee.yaml").read_text("utf-8"))
    plain = {key: value for key, value in plain.items() if "bolt" not in key}
    plain |= {"spout": ["./built.py"], "prepare": [["touch", "begun"], ["cp", SPOUT, "built.py"]]}
    (tmp_path / "testee.yaml").write_text(yaml.safe_dump(plain), encoding="utf-8")
    words = ("run", "--testee", ".", "-k", "spout.sync.next")
    ran = mlcheck(*words, cwd=tmp_path)
    last = ran.stderr.splitlines()[-1]
    assert (ran.returncode, "./built.py does not exist" in ran.stderr, (tmp_path / "begun").exists()) == (
        3,
        True,
        False,
    )
    assert [said for said in ("--prepare", f"touch begun; cp {SPOUT} built.py") if said not in last] == []
    prepared = mlcheck(*words, "--prepare", cwd=tmp_path)
    assert (prepared.returncode, "was it prepared?" in prepared.stderr) == (0, False)


@pytest.mark.component
def test_only_a_testee_is_prepared(tmp_path: Path) -> None:
    assert "add --testee DIR" in refusal(mlcheck("run", "--prepare", "bolt.py", cwd=tmp_path))


def said_to(transcript: Path) -> list[Any]:
    """What Storm said in a transcript, in that order."""
    lines = map(json.loads, transcript.read_text(encoding="utf-8").splitlines())
    return [line["msg"] for line in lines if line.get("ch") == "in" and "msg" in line]


@pytest.mark.component
@pytest.mark.parametrize("task", [2, 3])
def test_a_tuple_comes_from_a_task_of_its_component(task: int, tmp_path: Path) -> None:
    bolt = msgspec.structs.replace(read_testee(ROOT / "component").components()[0], task=task)
    cases = ("library.bolt.seen.tuple", "bolt.settle.ids", "bolt.cut.tuple", "bolt.heartbeat.behind-backlog")
    result = run_suite(bolt, RunOptions(record=str(tmp_path), include=cases, record_all=True))
    assert {subject.verdict for subject in result.subjects} == {"pass"}
    for case in cases:
        greeting, *others = said_to(tmp_path / f"{case}.ndjson")
        names = greeting["context"]["task->component"]
        senders = {
            (each["comp"], names[str(each["task"])])
            for each in others
            if isinstance(each, dict) and each["task"] != SYSTEM_TASK
        }
        assert senders, case
        assert [pair for pair in senders if pair[0] != pair[1]] == [], case


@pytest.mark.component
def test_task_ids_come_behind_the_heartbeat_where_a_case_says_so(tmp_path: Path) -> None:
    case = "library.bolt.task-ids.behind-heartbeat"
    bolt = read_testee(ROOT / "component").components()[0]
    run_suite(bolt, RunOptions(record=str(tmp_path), include=(case,), record_all=True))
    said = said_to(tmp_path / f"{case}.ndjson")
    kinds = ["ids" if isinstance(each, list) else each.get("stream") for each in said]
    assert kinds[1:4] == ["default", "__heartbeat", "ids"]
