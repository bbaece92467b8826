"""Evidence bundles: packed, restored, and refused where they are somebody else's zip."""

from __future__ import annotations

import gzip
import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.cli.dispatch import dispatch
from multilang_cli.reports.evidence import bundle as bundles
from multilang_cli.reports.evidence.bundle import BundleError, unpack
from multilang_cli.transcript import archives
from tests.command import mlcheck
from tests.pages import TWICE, recorded

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import CompletedProcess


def packed(tmp_path: Path, name: str = "out.zip") -> CompletedProcess[str]:
    recorded(tmp_path / "talk.ndjson", TWICE)
    return mlcheck("report", "talk.ndjson", "--bundle", name, cwd=tmp_path)


@pytest.mark.component
def test_a_bundle_holds_the_evidence_and_is_restored(tmp_path: Path) -> None:
    assert packed(tmp_path).returncode == 0
    with zipfile.ZipFile(tmp_path / "out.zip") as made:
        assert sorted(made.namelist()) == [
            "about.md",
            "environment.json",
            "page.html",
            "report.json",
            "stderr.txt",
            "transcripts/talk.ndjson",
        ]
        assert made.read("transcripts/talk.ndjson") == (tmp_path / "talk.ndjson").read_bytes()
        assert b"ack-twice" in made.read("about.md")
        assert json.loads(made.read("environment.json"))["storm"] == "2.8.3"
    opened = mlcheck("report", "--open", "out.zip", cwd=tmp_path)
    assert opened.returncode == 0
    assert "FAIL  it settles a tuple twice" in opened.stdout
    restored = tmp_path / "out.opened" / "transcripts" / "talk.ndjson"
    assert restored.read_bytes() == (tmp_path / "talk.ndjson").read_bytes()
    again = mlcheck("report", "--open", "out.zip", cwd=tmp_path)
    assert (again.returncode, "not empty (-o DIR)" in again.stderr) == (2, True)


@pytest.mark.component
def test_the_same_evidence_is_packed_alike(tmp_path: Path) -> None:
    packed(tmp_path, "one.zip")
    assert mlcheck("report", "talk.ndjson", "--bundle", "two.zip", cwd=tmp_path).returncode == 0
    with zipfile.ZipFile(tmp_path / "one.zip") as one, zipfile.ZipFile(tmp_path / "two.zip") as two:
        same = [name for name in one.namelist() if name not in {"report.json", "about.md"}]
        assert [name for name in same if one.read(name) != two.read(name)] == []
        assert [entry.date_time for entry in one.infolist()] == [entry.date_time for entry in two.infolist()]


@pytest.mark.component
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--open", "missing.zip"), "missing.zip: No such file or directory"),
        (("--open", "talk.ndjson"), "talk.ndjson is no bundle"),
        (("--open", "out.zip", "--bundle", "x.zip"), "--open restores a bundle"),
        ((), "which transcripts?"),
        (("talk.ndjson",), "where to?"),
        (("talk.ndjson", "--bundle", "no/such/x.zip"), "no/such/x.zip"),
    ],
)
def test_misuse_is_a_sentence(arguments: tuple[str, ...], told: str, tmp_path: Path) -> None:
    recorded(tmp_path / "talk.ndjson", TWICE)
    ran = mlcheck("report", *arguments, cwd=tmp_path)
    assert ran.returncode == 2
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/evil",
        "transcripts/../../evil.ndjson",
        "other.txt",
        "transcripts/a.sh",
        "transcripts/\x1b[2J.ndjson",
        "about.md",
    ],
)
def test_a_strangers_zip_writes_nothing(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as evil:
        evil.writestr("report.json", "{}")
        evil.writestr(name, "x")
    with pytest.raises(BundleError, match="is no bundle"):
        unpack(tmp_path / "evil.zip", tmp_path / "in" / "here")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["evil.zip"]


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("report.json", "0" * 1001)
    with pytest.raises(BundleError, match="more than a bundle may hold"):
        unpack(tmp_path / "bomb.zip", tmp_path / "out")


def test_the_last_of_stderr_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "STDERR_KEPT", 10)
    path = recorded(tmp_path / "loud.ndjson", "2> 8\n2> 8")
    assert bundles._stderr([str(path)]).splitlines()[1] == "." * 10


def test_a_damaged_bundle_is_no_bundle(tmp_path: Path) -> None:
    path = tmp_path / "out.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("report.json", "".join(map(str, range(1000))))
        made.writestr("transcripts/talk.ndjson", "")
    whole = path.read_bytes()
    for place in range(50, 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with pytest.raises(BundleError, match="is no bundle"):
            unpack(path, tmp_path / str(place))
        assert [each.name for each in tmp_path.iterdir()] == ["out.zip"]


def test_texts_of_a_bundle_may_be_shown_on_a_terminal(tmp_path: Path) -> None:
    """Recordings alone stay as they are: in them nothing is shown."""
    recording = recorded(tmp_path / "talk.ndjson", TWICE).read_bytes()
    with zipfile.ZipFile(tmp_path / "strange.zip", "w") as strange:
        strange.writestr("report.json", "{}")
        for name in ("stderr.txt", "about.md", "environment.json"):
            strange.writestr(name, "a\x1b[2J\u202eb\né\n".encode() + b"\xff")
        strange.writestr("transcripts/talk.ndjson", recording + b"\x1b")
    unpack(tmp_path / "strange.zip", tmp_path / "out")
    for name in ("stderr.txt", "about.md", "environment.json"):
        assert (tmp_path / "out" / name).read_text(encoding="utf-8") == "a\\x1b[2J\\u202eb\né\n\\xff"
    assert (tmp_path / "out" / "transcripts" / "talk.ndjson").read_bytes() == recording + b"\x1b"


ODD_NAMES = {
    "line feed": "a\nb.ndjson",
    "no UTF-8": "\udcff.ndjson.gz",
    "long": "x" * 240 + ".ndjson",
    "cursor": "\x1b[2J.ndjson",
    "right to left": "\u202e.ndjson",
    "no suffix": "talk",
}


@pytest.mark.parametrize("names", [*([name] for name in ODD_NAMES.values()), list(ODD_NAMES.values())], ids=range(7))
def test_what_is_packed_can_be_opened(names: list[str], tmp_path: Path) -> None:
    recorded(tmp_path / "talk.ndjson", TWICE)
    text = (tmp_path / "talk.ndjson").read_bytes()
    for name in names:
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert dispatch(["report", *(str(tmp_path / name) for name in names), "--bundle", str(tmp_path / "b.zip")]) == 0
    assert len(unpack(tmp_path / "b.zip", tmp_path / "out")) == len(names)


def test_no_bundle_is_made_that_could_not_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    recorded(tmp_path / "talk.ndjson", TWICE)
    monkeypatch.setattr(bundles, "MOST_FILES", 5)
    assert dispatch(["report", str(tmp_path / "talk.ndjson"), "--bundle", str(tmp_path / "b.zip")]) == 2
    assert "unpacks to more than a bundle may hold" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["talk.ndjson"]
