"""``mlcheck report`` and ``--report html=PATH`` as a user meets them."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.command import MUTANT_BOLT, ROOT, mlcheck, refusal
from tests.pages import ACKED, TWICE, PageFile, recorded, section

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component


def page_in(path: Path) -> PageFile:
    return PageFile(path.read_text("utf-8"))


def test_a_page_is_written_whatever_was_found(tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.ndjson", TWICE)
    out = tmp_path / "out.html"
    out.write_text("of yesterday")
    ran = mlcheck("report", path.name, "-o", "out.html", cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "out.html: not-conformant\n")
    assert [each["rule"] for each in section(page_in(out).carried, "c1")["findings"]] == ["ack-twice"]
    to_stdout = mlcheck("report", str(tmp_path), "--output", "-", cwd=tmp_path)
    assert to_stdout.returncode == 0
    assert PageFile(to_stdout.stdout).carried["verdict"] == {"text": "not conformant", "tone": "bad"}


@pytest.mark.parametrize("arguments", ["report - -o out.html", "lint - --report html=out.html"])
def test_stdin_is_read_from_a_pipe_as_well(arguments: str, tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.ndjson", TWICE)
    mlcheck(*shlex.split(arguments), cwd=tmp_path, stdin=path.read_text("utf-8"))
    assert len(section(page_in(tmp_path / "out.html").carried, "c1")["findings"]) == 1


def test_stdin_may_be_a_file(tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.ndjson", TWICE)
    with path.open("rb") as file:
        words = [sys.executable, "-m", "multilang_cli", "report", "-", "-o", str(tmp_path / "out.html")]
        subprocess.run(words, stdin=file, check=True, capture_output=True, cwd=ROOT)
    assert section(page_in(tmp_path / "out.html").carried, "c1")["findings"]


def test_another_version_and_fewer_events(tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.ndjson", ACKED)
    arguments = shlex.split("--storm 2.6.4 --events 5 -o out.html")
    assert mlcheck("report", str(path), *arguments, cwd=tmp_path).returncode == 0
    page = page_in(tmp_path / "out.html").carried
    assert ["Storm", "2.6.4"] in section(page, "c1-facts")["rows"]
    assert "2.6.4" in {each["version"] for each in section(page, "c1")["outlook"]}
    assert "left-out" in section(page, "c1")["kinds"] or section(page, "c1")["note"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("talk.ndjson", 2, "report: where to? Give -o out.html for a page, --bundle out.zip for a bundle."),
        ("talk.ndjson -o .", 2, "report: . is a directory."),
        ("talk.ndjson -o talk.ndjson/x", 2, "report: can't write talk.ndjson/x"),
        ("talk.ndjson -o out.html --storm 99", 2, "there is no Storm version '99'"),
        ("- talk.ndjson -o out.html", 2, "report: - stands for stdin and must be the only transcript."),
        ("absent -o out.html", 2, "report: absent: can't be read: No such file or directory."),
        ("foreign.ndjson -o out.html", 2, "report: foreign.ndjson:1: no line of a transcript"),
        ("newer.ndjson -o out.html", 2, "the format is version 9.0; this mlcheck reads 1.x"),
        ("empty.ndjson -o out.html", 2, "report: empty.ndjson: there is no conversation in it"),
    ],
)
def test_what_can_not_be_reported_is_a_sentence(arguments: str, code: int, said: str, tmp_path: Path) -> None:
    recorded(tmp_path / "talk.ndjson", ACKED)
    (tmp_path / "foreign.ndjson").write_bytes(b"\x89PNG\r\n\x1a\n\x00\n")
    (tmp_path / "newer.ndjson").write_text('{"transcript":"9.0","conv":"x"}\n')
    (tmp_path / "empty.ndjson").touch()
    ran = mlcheck("report", *shlex.split(arguments), cwd=tmp_path)
    assert ran.returncode == code
    assert said in refusal(ran)
    assert not (tmp_path / "out.html").exists()


def test_a_run_makes_a_page_with_the_conversations_of_its_failures(tmp_path: Path) -> None:
    options = shlex.split(
        "--kind bolt -k bolt.settle.once -k handshake.pid-first --storm 2.8,1.2 --report html=out/run.html"
    )
    ran = mlcheck("run", *options, "--", sys.executable, MUTANT_BOLT, "ack-twice", cwd=tmp_path)
    assert ran.returncode == 1
    page = page_in(tmp_path / "out" / "run.html").carried
    assert page["subtitle"].startswith("it settles a tuple twice: ack of a tuple that is settled already")
    assert "(rule ack-twice)" in page["subtitle"]
    talks = {each["id"]: each for each in page["sections"] if each["type"] == "conversation"}
    assert len(talks) == 2
    assert all("ack-twice" in {found["rule"] for found in talk["findings"]} for talk in talks.values())
    [table] = [each for each in page["sections"] if each["title"] == "On each Storm version"]
    assert [column["name"] for column in table["columns"]] == ["case", "1.2.4", "2.8.3"]
    assert [cell["to"] for cell in table["rows"][0][1:]] == list(talks)
    assert '"command": "mlcheck run ' in json.dumps(page)
