"""What mlcheck.toml and the environment say for topologies, under what the topology and the command line say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.subject import config as config_file
from multilang_cli.subject.origins import settings_of
from multilang_cli.terminal.exits import CommandError
from multilang_cli.topology.console.settings import topology_settings
from multilang_cli.topology.flux import FluxFile
from multilang_cli.topology.model import GUARANTEE, UNANCHORED, ComponentSpec, OutputStream, Topology

if TYPE_CHECKING:
    from pathlib import Path

TABLE = '[topology]\nguarantee = "at-least-once"\nunanchored = ["late", "split/late", "elsewhere"]\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read_with(conf: dict[str, Any]) -> FluxFile:
    split = ComponentSpec(id="split", kind="bolt", command=("x",), streams={"late": OutputStream(("word",))})
    return FluxFile(Topology(name="t", components={"split": split}, conf=conf), ())


@pytest.mark.parametrize(
    ("conf", "guarantee", "unanchored", "notes"),
    [
        ({}, "at-least-once", ["late", "split/late"], 1),
        ({GUARANTEE: "none"}, "none", ["late", "split/late"], 1),
        ({UNANCHORED: []}, "at-least-once", [], 0),
    ],
    ids=["nothing", "another guarantee", "no stream exempt"],
)
def test_the_table_goes_under_the_topology(
    folder: Path, conf: dict[str, Any], guarantee: str, unanchored: list[str], notes: int
) -> None:
    (folder / "mlcheck.toml").write_text(TABLE, encoding="utf-8")
    read = topology_settings({}).under(read_with(conf))
    assert read.topology.conf == {GUARANTEE: guarantee, UNANCHORED: unanchored}
    told = [f"{folder / 'mlcheck.toml'}: topology.unanchored: no component declares a stream elsewhere here."]
    assert [str(each) for each in read.notes] == told[:notes]


def test_nothing_is_said_for_a_topology_without_a_file(folder: Path) -> None:
    assert folder.is_dir()
    settings = topology_settings({})
    assert settings.under(read_with({})).topology.conf == {}
    assert settings.defaults == {"storm": "", "strict": False, "seed": 0}


def test_environment_goes_over_the_file_and_the_newest_storm_is_played(folder: Path) -> None:
    (folder / "mlcheck.toml").write_text('storm = ["2.5.0", "1.2"]\nseed = 3\nstrict = true\n', encoding="utf-8")
    assert topology_settings({"MLCHECK_SEED": "7"}).defaults == {"storm": "2.5.0", "strict": True, "seed": 7}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '[topology]\nguarantee = "exactly-once"\n',
            "mlcheck.toml:2: topology.guarantee: 'exactly-once' is not one of",
        ),
        ('[topology]\nunanchord = ["a"]\n', "there is no such key; did you mean unanchored?"),
        ('storm = "7"\n', "there is no Storm version '7'"),
    ],
)
def test_a_mistake_is_a_sentence(folder: Path, text: str, words: str) -> None:
    (folder / "mlcheck.toml").write_text(text, encoding="utf-8")
    with pytest.raises(CommandError) as refused:
        topology_settings({})
    assert words in str(refused.value)


def test_config_show_tells_the_line_of_the_table(folder: Path) -> None:
    (folder / "mlcheck.toml").write_text(f"seed = 1\n{TABLE}", encoding="utf-8")
    rows = {row.name: row for row in settings_of(config_file.load(folder / "mlcheck.toml"), {})}
    assert rows["topology"].origin == "mlcheck.toml:2"
    assert rows["topology"].value["guarantee"] == "at-least-once"
