"""Libraries held against cases: what the model counts, what its forms say, and the command from end to end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
import yaml

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.reports.matrix.files import badge, read_matrix, texts_of, write_matrix
from multilang_cli.reports.matrix.markdown import to_markdown
from multilang_cli.reports.matrix.model import CellTrouble, Library, Matrix, MatrixCase, Part
from multilang_cli.reports.matrix.page import document_of
from multilang_cli.reports.matrix.words import wrong_with
from multilang_cli.reports.model import Tool, Untested
from multilang_cli.subject.options import RunOptions
from multilang_cli.subject.testee import read_testee
from multilang_cli.suite.matrix import PlayedTestee, library_of
from multilang_cli.suite.matrix_run import show_scores
from multilang_cli.suite.runner.suite_run import run_suite
from tests.command import ROOT, mlcheck, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.reports.model import Verdict

COMPONENT = ROOT / "conformance" / "testees" / "component"
HOSTILE = 'a|b</svg><script>alert("1")</script>\x1b[31m\u202e'


def trouble(case: str, verdict: Verdict = "fail", **more: Any) -> CellTrouble:
    return CellTrouble(case=case, verdict=verdict, reason="no sync of 'activate'", rules=("sync-missing",), **more)


def library(id_: str, *parts: Part, name: str = "storm.js") -> Library:
    return Library(id=id_, name=name, version="2.8.3", language="JavaScript", parts=parts)


def part(name: str, *troubles: CellTrouble, why: str = "", skipped: str = "", **verdicts: Verdict) -> Part:
    return Part(
        name=name,
        verdict="conformant",
        exit_code=0,
        verdicts={case.replace("_", "."): verdict for case, verdict in verdicts.items()},
        troubles=troubles,
        untested=(Untested(reason="not claimed", ids=(skipped,)),) if skipped else (),
        why=why,
    )


def matrix(*libraries: Library) -> Matrix:
    cases = ("bolt.tick", "handshake.pid", "spout.sync")
    return Matrix(
        tool=Tool(version="0.1.0"),
        storm="2.8.3",
        suite="0123456789abcdef",
        made_at="2026-11-21T12:00:00Z",
        exit_code=1,
        cases=tuple(MatrixCase(id=case, title=f"tries {case}", level="must", kind="both") for case in cases),
        libraries=libraries,
    )


JS = library(
    "storm_js",
    part("bolt", skipped="bolt.tick", bolt_tick="skip", handshake_pid="pass"),
    part(
        "spout",
        trouble("handshake.pid", "xfail", known="never calls done", page="cells/storm_js/spout/handshake.pid.html"),
        trouble("spout.sync", "warn"),
        handshake_pid="xfail",
        spout_sync="warn",
    ),
)


def test_a_library_is_as_its_gravest_part() -> None:
    whole = matrix(JS)
    assert [JS.verdict(case.id) for case in whole.cases] == ["skip", "xfail", "warn"]
    assert JS.verdict("no.such.case") is None
    score = whole.score(JS)
    assert (score.passed, score.warned, score.failed, score.known, score.skipped, score.tested) == (0, 1, 1, 1, 1, 2)


def test_a_new_failure_beside_a_known_one_is_not_known() -> None:
    both = library(
        "x",
        part("bolt", trouble("bolt.tick"), bolt_tick="fail"),
        part("basic", trouble("bolt.tick", "xfail", known="why"), bolt_tick="xfail"),
    )
    assert matrix(both).score(both).known == 0


def test_one_thing_that_is_wrong_in_many_cases_is_told_once() -> None:
    many = library(
        "x",
        part("bolt", trouble("bolt.tick"), trouble("handshake.pid"), bolt_tick="fail", handshake_pid="fail"),
        part("basic", trouble("bolt.tick"), bolt_tick="fail"),
    )
    [wrong] = wrong_with(many)
    assert (wrong.parts, wrong.cases) == (("bolt", "basic"), ("bolt.tick", "handshake.pid"))


def test_the_table_says_what_is_known_and_what_is_not_tested() -> None:
    text = to_markdown(matrix(JS))
    assert "| `handshake.pid` | FAIL |" in text
    assert "| `bolt.tick` | - |" in text
    assert "known: never calls done" in text
    assert "0 of 2 passed, 1 failed (1 of them known), 1 gave a warning, 1 not tested" in text


@pytest.mark.parametrize(
    ("of", "words", "colour"),
    [
        (library("a", part("bolt", bolt_tick="pass")), "1 of 1", "#1c7048"),
        (library("b", part("spout", trouble("spout.sync", "warn"), spout_sync="warn")), "0 of 1", "#855600"),
        (JS, "0 of 2", "#b1261c"),
        (library("d", part("bolt", why="no such program")), "not started", "#5c636e"),
    ],
    ids=["right", "warns", "fails", "not-started"],
)
def test_a_badge_says_how_many_passed(of: Library, words: str, colour: str) -> None:
    image = ET.fromstring(badge(matrix(of), of))  # noqa: S314 (ours)
    texts = [each.text for each in image.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["multilang", words]
    assert colour in {each.get("fill") for each in image.iter()}


def test_the_page_holds_to_its_schema_and_links_to_the_cells() -> None:
    made = document_of(matrix(JS, library("y", part("bolt", why="no such program"))))
    document = json.loads(msgspec.json.encode(made))
    assert schemas.explain(document, "page") == []
    [section] = [each for each in document["sections"] if each["type"] == "matrix"]
    cells = {row["name"]: row["cells"] for _, rows in section["groups"] for row in rows}
    assert cells["handshake.pid"][0]["file"] == "cells/storm_js/spout/handshake.pid.html"
    assert cells["handshake.pid"][1] is None
    assert cells["bolt.tick"][0]["detail"] == "not claimed"


def test_what_a_stranger_wrote_is_shown_and_nothing_more(tmp_path: Path) -> None:
    wrong = trouble("bolt.tick", known=HOSTILE)
    hostile = matrix(library("x", part("bolt", wrong, bolt_tick="fail"), name=HOSTILE))
    write_matrix(hostile, tmp_path, brief=False)
    for file in ("matrix.md", "matrix.json", "index.html"):
        text = (tmp_path / file).read_text(encoding="utf-8")
        assert not set("\x1b\u202e") & set(text), file
    assert "<script>alert" not in (tmp_path / "index.html").read_text(encoding="utf-8")
    row = next(
        line for line in (tmp_path / "matrix.md").read_text(encoding="utf-8").splitlines() if "bolt.tick" in line
    )
    assert row.count("|") == 3 or row.startswith("- ")
    assert read_matrix(tmp_path) == hostile


def test_a_strangers_name_moves_nothing_on_the_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_scores(
        matrix(library("x", part("bolt", bolt_tick="pass"), name=f"{HOSTILE}\n::error::x")), tmp_path, brief=True
    )
    said = capsys.readouterr().out
    assert len(said.splitlines()) == 1
    assert said.rstrip("\n").isprintable()


def test_what_is_added_takes_the_place_of_what_was() -> None:
    old = matrix(JS, library("a", part("bolt", bolt_tick="pass")))
    new = matrix(library("storm_js", part("bolt", bolt_tick="pass")))
    both = new.added_to(old)
    assert [(each.id, len(each.parts)) for each in both.libraries] == [("a", 1), ("storm_js", 1)]
    assert texts_of(both).keys() == {"matrix.json", "matrix.md", "badges/a.svg", "badges/storm_js.svg"}


def test_versions_of_a_library_are_a_trend() -> None:
    verdicts: list[dict[str, Verdict]] = [
        {"bolt_tick": "fail", "handshake_pid": "pass", "spout_sync": "fail"},
        {"bolt_tick": "pass", "handshake_pid": "fail", "spout_sync": "skip"},
        {"bolt_tick": "pass", "handshake_pid": "warn", "spout_sync": "fail"},
    ]
    made = matrix(library("a", part("bolt", bolt_tick="pass")))
    for number, each in enumerate(verdicts):
        version = msgspec.structs.replace(library("storm_js", part("bolt", **each)), version=f"2.{number}")
        for _ in "twice":
            made = matrix(version).added_to(made)
    past = made.libraries[1].past
    assert [(each.version, each.passed, each.tested, each.mended, each.broken) for each in past] == [
        ("2.0", 1, 3, ("bolt.tick",), ("handshake.pid",)),
        ("2.1", 1, 2, ("handshake.pid",), ()),
    ]
    assert made.libraries[0].past == ()
    text = to_markdown(made)
    assert "| storm.js | 2.0 | 2026-11-21 | 1 of 3 passed, 2 failed | bolt.tick | handshake.pid |" in text
    assert "| storm.js | 2.2 | 2026-11-21 | 1 of 3 passed, " in text
    document = json.loads(msgspec.json.encode(document_of(made)))
    assert schemas.explain(document, "page") == []
    assert [each["title"] for each in document["sections"]][:3] == ["About", "Libraries", "Versions"]
    assert schemas.explain(json.loads(texts_of(made)["matrix.json"]), "matrix") == []
    assert "## Versions" not in to_markdown(matrix(JS))


@pytest.mark.component
def test_a_failing_cell_has_its_conversation(tmp_path: Path) -> None:
    bug = {"MLCHECK_MUTANT": "print-stdout"}
    selection = ("-k", "library.bolt.print", "-k", "library.spout.id.none")
    made = mlcheck("matrix", str(COMPONENT), "-o", "out", *selection, cwd=tmp_path, **bug)
    assert made.returncode == 1, made.stderr
    assert made.stdout == "multilang_cli.component 0.1.0  1 of 2 passed, 1 failed\n"
    out = tmp_path / "out"
    assert schemas.explain(json.loads((out / "matrix.json").read_bytes()), "matrix") == []
    [found] = [each for part in read_matrix(out).libraries[0].parts for each in part.troubles]
    assert (found.case, found.verdict, found.known) == ("library.bolt.print", "fail", "")
    assert "stdout-text" in found.rules
    assert found.page is not None
    assert found.transcript is not None
    assert "library.bolt.print" in (out / found.page).read_text(encoding="utf-8")
    assert mlcheck("lint", found.transcript, cwd=out).returncode == 1
    again = mlcheck(*found.reproduce.split()[1:], cwd=tmp_path, **bug)
    assert (again.returncode, "1 failed" in again.stdout) == (1, True)
    more = mlcheck("matrix", str(COMPONENT), "-o", "out", "--add", "--brief", "-k", "library.bolt.print", cwd=tmp_path)
    assert more.returncode == 0, more.stderr
    assert {path.name for path in out.iterdir()} == {"index.html", "matrix.md", "matrix.json", "badges", "cells"}


@pytest.mark.component
def test_a_known_failure_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text("library.bolt.print  stdout-text  # print is not redirected\n", encoding="utf-8")
    testee = read_testee(COMPONENT)
    [bolt] = [each for each in testee.components() if each.testee == "bolt"]
    wrong = msgspec.structs.replace(bolt, env={"MLCHECK_MUTANT": "print-stdout"}, known_failures=str(file))
    result = run_suite(wrong, RunOptions(record=str(tmp_path), include=("library.bolt.print",)))
    column = library_of(testee, [PlayedTestee(wrong, result)], load_rulebook(), None)
    assert column.verdict("library.bolt.print") == "xfail"
    assert [each.known for each in column.parts[0].troubles] == ["print is not redirected"]
    assert column.parts[0].exit_code == 0


def write_testee(folder: Path, **changes: Any) -> Path:
    plain = yaml.safe_load((COMPONENT / "testee.yaml").read_text(encoding="utf-8"))
    folder.mkdir()
    parts = {"bolt": ["./none.sh"], "basic_bolt": ["./none.sh"], "spout": ["./none.sh"]}
    (folder / "testee.yaml").write_text(yaml.safe_dump({**plain, **parts, **changes}), encoding="utf-8")
    return folder


@pytest.mark.component
def test_what_was_not_prepared_is_no_failure_of_the_library(tmp_path: Path) -> None:
    write_testee(tmp_path / "mine", prepare=[["cp", str(COMPONENT / "testee.py"), "none.sh"]])
    made = mlcheck("matrix", ".", "-o", "out", "-k", "handshake.pid-first", cwd=tmp_path)
    assert made.returncode == 3
    assert "could not be started" in made.stdout
    assert "--prepare" in made.stdout
    assert "not started" in (tmp_path / "out" / "badges" / "mine.svg").read_text(encoding="utf-8")
    write_testee(tmp_path / "broken", prepare=[["false"]])
    ran = mlcheck("matrix", "mine", "broken", "-o", "out", "--prepare", cwd=tmp_path)
    assert ran.returncode == 2
    assert "broken: false ended with code 1" in ran.stderr
    assert (tmp_path / "mine" / "none.sh").is_file()


@pytest.mark.component
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("matrix", "x"), 2, "Give -o DIR."),
        (("matrix", "nowhere", "-o", "out"), 2, "nowhere: no testee is in it"),
        (("matrix", str(COMPONENT), "-o", "out", "-k", "no.such"), 4, "no case matches 'no.such'"),
        (("matrix", str(COMPONENT), "-o", "out", "--add"), 2, "is no matrix"),
        (("matrix", str(COMPONENT), "-o", "file"), 2, "file: File exists"),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else None,
)
def test_misuse_is_a_sentence(arguments: tuple[str, ...], code: int, words: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "matrix.json").write_text("[]", encoding="utf-8")
    (tmp_path / "file").touch()
    ran = mlcheck(*arguments, cwd=tmp_path)
    assert ran.returncode == code
    assert words in refusal(ran)
