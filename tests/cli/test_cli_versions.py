"""``mlcheck run --storm all``: real components, each version with a conversation of its own, one verdict."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_versions
from multilang_cli.subject.storms import played_storms, required_storms
from multilang_cli.terminal.exits import CommandError
from tests.command import BOLT, MUTANT_BOLT, SPOUT, mlcheck, refusal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

VERIFIED = tuple(version.id for version in load_versions() if version.verified)
BOLT_OF = ("run", "--kind", "bolt", "--tuple", '["a b"]', "--report", "json=r.json")
ONCE = (*BOLT_OF, "-k", "bolt.settle.once")
DIRECT = """\
import json, os, sys

def read():
    return json.loads(b"".join(iter(sys.stdin.buffer.readline, b"end\\n")))

def send(message):
    os.write(1, json.dumps(message).encode() + b"\\nend\\n")

setup = read()
open(os.path.join(setup["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
tasks = [int(task) for task, name in setup["context"]["task->component"].items() if name == "sink"]
while True:
    tup = read()
    if tup["stream"] == "__heartbeat":
        send({"command": "sync"})
        continue
    send({"command": "emit", "anchors": [tup["id"]], "stream": "jobs", "task": tasks[0], "tuple": [tup["tuple"][0]]})
    send({"command": "ack", "id": tup["id"]})
"""


SENTENCE = "Storm: runs on 0.9.7 to 2.5.0; dies on 2.6 and later: a direct emit (rule direct-emit)"


def report(folder: Path) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads((folder / "r.json").read_text())
    schemas.validator("report").validate(plain)
    return plain


def by_version(plain: dict[str, Any]) -> dict[str, Any]:
    return {part["storm"]: part for part in plain["parts"]}


# which versions


@pytest.mark.parametrize(
    ("text", "played"),
    [
        ("", ("",)),
        ("1.2", ("1.2.4",)),
        ("2.8, 1.2,2.8.3", ("1.2.4", "2.8.3")),
        ("all", VERIFIED),
        ("all,2.6.4", (*VERIFIED[:-1], "2.6.4", VERIFIED[-1])),
    ],
)
def test_the_versions_that_are_played(text: str, played: tuple[str, ...]) -> None:
    assert played_storms(text) == played


@pytest.mark.parametrize(
    ("text", "required"),
    [("", VERIFIED), ("all", VERIFIED), ("2.8", ("2.8.3",)), ("2.8,0.10.2", ("0.10.2", "2.8.3"))],
)
def test_the_versions_that_are_required(text: str, required: tuple[str, ...]) -> None:
    assert required_storms(text, VERIFIED) == required


def test_of_two_that_a_name_fits_the_newest_is_required() -> None:
    assert required_storms("2.8", ("2.8.1", "2.8.2")) == ("2.8.2",)
    with pytest.raises(CommandError, match=r"Storm '2' is not played"):
        required_storms("2", ("1.2.4",))


@pytest.mark.parametrize(
    ("words", "config", "message"),
    [
        (["--storm", "1.2,,2.8"], "", "--storm '1.2,,2.8': a version is missing; write as in --storm 1.2,2.8"),
        (["--storm", "all,3.1"], "", "there is no Storm version '3.1'"),
        (
            ["--storm", "1.2", "--storm-required", "2.8"],
            "",
            "nothing can be required of it; played is 1.2.4",
        ),
        (["--storm-required", "1.2"], "", "played is 2.8.3"),
        (["--storm", "all", "--storm-required", "2.8,2.6"], "", "Storm '2.6' is not played"),
        ([], 'storm = ["1.2"]\nstorm_required = ["2.8"]\n', "Storm '2.8' is not played"),
        ([], "storm = []\n", "expected: the Storm version"),
        ([], "storm_required = 2.8\n", "expected: of several Storm versions"),
    ],
)
def test_what_is_refused_before_anything_starts(words: list[str], config: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text(config)
    ran = mlcheck(*ONCE, *words, "--", "sh", "-c", "touch begun", cwd=tmp_path)
    assert ran.returncode == 2
    assert message in refusal(ran)
    assert [path.name for path in tmp_path.iterdir()] == ["mlcheck.toml"]


def test_settings_of_the_file_are_shown_and_completed(tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text('storm = ["1.2", "2.8"]\nstorm_required = "2.8"\n')
    shown = json.loads(mlcheck("config", "show", "--format", "json", cwd=tmp_path).stdout)["settings"]
    values = {row["name"]: (row["value"], row["origin"]) for row in shown}
    assert (values["storm"], values["storm_required"]) == (("1.2,2.8", "mlcheck.toml:1"), ("2.8", "mlcheck.toml:2"))
    for option, more in (("--storm", {"all"}), ("--storm-required", {"all"})):
        ran = mlcheck("completion", "candidates", "--", "run", option, "2.8.3,", cwd=tmp_path)
        known = {version.id for version in load_versions()} | more
        assert set(ran.stdout.split()) == {f"2.8.3,{name}" for name in known - {"2.8.3"}}
    assert "all" not in mlcheck("completion", "candidates", "--", "lint", "--storm", "", cwd=tmp_path).stdout.split()


def test_a_dry_run_names_the_versions(tmp_path: Path) -> None:
    ran = mlcheck(*ONCE, "--storm", "1.2,2.8", "--dry-run", "--", "sh", "-c", "touch begun", cwd=tmp_path)
    assert ran.returncode == 0
    assert "for each of 2 Storm versions: 1.2.4, 2.8.3" in " ".join(ran.stdout.split())
    assert list(tmp_path.iterdir()) == []


# what is played


@pytest.mark.parametrize(
    ("kind", "path", "case"), [("bolt", BOLT, "handshake.context"), ("spout", SPOUT, "spout.sync")]
)
def test_a_component_that_is_right_runs_on_all(kind: str, path: str, case: str, tmp_path: Path) -> None:
    words = ("run", "--storm", "all", "-k", case, "-k", "end", "--record-all", "--report", "json=r.json")
    ran = mlcheck(*words, path, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Storm: runs on 0.9.7 to 2.8.3\n" in ran.stdout
    plain = report(tmp_path)
    assert (plain["storm"], tuple(by_version(plain))) == (", ".join(VERIFIED), VERIFIED)
    assert {part["component"]["kind"] for part in plain["parts"]} == {kind}
    verdicts = {
        storm: {subject["id"]: subject["verdict"] for subject in part["subjects"]}
        for storm, part in by_version(plain).items()
    }
    # What a version does not ask for is its own: the context of 0.9.7, activate before 1.1.
    asked = "handshake.context" if kind == "bolt" else "spout.sync.activate"
    assert (verdicts["0.9.7"][asked], verdicts["2.8.3"][asked]) == ("skip", "pass")


def test_each_version_has_its_own_conversation_and_its_own_recording(tmp_path: Path) -> None:
    ran = mlcheck(*ONCE, "--storm", "0.9.7,2.8", "--record", "rec", "--record-all", "-j2", BOLT, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    texts = {storm: (tmp_path / "rec" / storm / "bolt.settle.once.ndjson").read_text() for storm in ("0.9.7", "2.8.3")}
    assert {storm: json.loads(text.splitlines()[0])["storm"] for storm, text in texts.items()} == {
        "0.9.7": "0.9.7",
        "2.8.3": "2.8.3",
    }
    assert ("source->stream->grouping" in texts["0.9.7"], "source->stream->grouping" in texts["2.8.3"]) == (False, True)
    assert ran.stderr == "1 case on each of 2 Storm versions, a start of the component for each, 2 at once\n"


def test_a_direct_emit_that_is_right_dies_on_new_versions(tmp_path: Path) -> None:
    (tmp_path / "direct.py").write_text(DIRECT)
    words = (*BOLT_OF, "--stream", "jobs:word!direct", "-k", "bolt.emit.direct", "--storm", "all")
    ran = mlcheck(*words, "--report", "junit=r.xml", "direct.py", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert SENTENCE in " ".join(ran.stdout.split())
    assert "bolt.emit.direct  pass   pass    pass   pass   warn" in ran.stdout
    assert "not confirmed" not in ran.stdout
    assert ran.stdout.count("Mend") == 1
    again = report(tmp_path)["parts"][-1]["subjects"][0]["reproduce"]
    assert " --storm 2.8.3 " in again
    assert len(ET.parse(tmp_path / "r.xml").getroot()) == 5  # noqa: S314  # made here
    strict = mlcheck(*words, "--strict", "-q", "direct.py", cwd=tmp_path)
    assert strict.returncode == 1
    assert "Storm 2.8.3: FAIL  1 warning" in strict.stdout
    older = mlcheck(*words, "--strict", "-q", "--storm-required", "0.10,2.5", "direct.py", cwd=tmp_path)
    assert older.returncode == 0, older.stdout
    assert older.stdout.splitlines()[-1] == SENTENCE
    between = mlcheck(*words[:-1], "2.5.1,2.6.4", "direct.py", cwd=tmp_path)
    assert "Note: not confirmed for Storm 2.5.1, 2.6.4: it was never asked" in between.stdout


@pytest.mark.parametrize(
    ("bug", "storms", "sentence"),
    [
        ("text-after-object", "2.5,2.8", "breaks the protocol on 2.6 and later: {}; dies on 2.5.0: {}"),
        (
            "decimal-value",
            "2.5,2.6.4,2.8",
            "runs on 2.5.0; loses data on 2.6 and later: {} (not confirmed: 2.6.4,",
        ),
        ("ack-twice", "0.9.7,1.2,2.8", "dies on 0.9.7 and later: {}"),
    ],
)
def test_what_only_some_versions_punish(bug: str, storms: str, sentence: str, tmp_path: Path) -> None:
    ran = mlcheck(*ONCE, "-q", "--storm", storms, "--", sys.executable, MUTANT_BOLT, bug, cwd=tmp_path)
    (told,) = report(tmp_path)["sentences"]
    title = mlcheck("explain", bug, cwd=tmp_path).stdout.splitlines()[0].split("  ", 1)[1]
    assert told.startswith(sentence.format(*[f"{title} (rule {bug})"] * 2)), ran.stdout
