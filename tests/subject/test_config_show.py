from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.subject import config as config_file
from multilang_cli.subject.config import places
from multilang_cli.subject.options import Component
from multilang_cli.subject.origins import settings_of, settings_of_component
from multilang_cli.subject.settings import SETTINGS
from tests.command import mlcheck, refusal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

FILE = """\
timeout = 5
strict = true
suites = ["more"]

[[component]]
name = "splitter"
command = ["python3", "split.py", "--token=hunter2hunter2"]
samples = [["a b"]]

[component.conf]
"db.password" = "hunter2hunter2"
"topology.debug" = true

[component.env]
API_TOKEN = "abc123"
LANG = "C.UTF-8"

[[component]]
command = "b.rb"
limits = {pid = 30}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "mlcheck.toml").write_text(FILE, encoding="utf-8")
    return tmp_path


def shown(cwd: Path, *words: str, **env: str) -> dict[str, Any]:
    ran = mlcheck("config", "show", "--format", "json", *words, cwd=cwd, **env)
    assert (ran.returncode, ran.stderr) == (0, "")
    whole: dict[str, Any] = json.loads(ran.stdout)
    return whole


def table(rows: list[dict[str, Any]]) -> dict[str, tuple[Any, str]]:
    return {row["name"]: (row["value"], row["origin"]) for row in rows}


def test_every_setting_says_where_it_comes_from(project: Path) -> None:
    settings = table(shown(project, MLCHECK_STRICT="0", MLCHECK_STORM="1.2", MLCHECK_COLOR="never")["settings"])
    assert settings["storm"] == ("1.2", "MLCHECK_STORM")
    assert settings["strict"] == (False, "MLCHECK_STRICT")
    assert settings["color"] == ("never", "MLCHECK_COLOR")
    assert settings["timeout"] == (5, "mlcheck.toml:1")
    assert settings["suites"] == ([str(project / "more")], "mlcheck.toml:3")
    assert settings["seed"] == (0, "default")
    assert {*SETTINGS, *schemas.load("config")["properties"]} - {"component"} == set(settings) - {"color"}
    plain = table(shown(project)["settings"])
    assert plain["storm"] == (load_rulebook().newest.id, "default")
    assert plain["strict"] == (True, "mlcheck.toml:2")


def test_every_key_of_a_component_says_where_it_comes_from(project: Path) -> None:
    components = shown(project)["components"]
    assert list(components) == ["splitter", "component2"]
    splitter, second = map(table, components.values())
    assert splitter["name"] == ("splitter", "mlcheck.toml:6")
    assert splitter["samples"] == ([["a b"]], "mlcheck.toml:8")
    assert splitter['conf."topology.debug"'] == (True, "mlcheck.toml:12")
    assert splitter["env.LANG"] == ("C.UTF-8", "mlcheck.toml:16")
    assert splitter["kind"] == ("auto", "default")
    assert second["command"] == (["b.rb"], "mlcheck.toml:19")
    assert second["limits.pid"] == (30, "mlcheck.toml:20")
    assert second["cwd"] == (str(project), "default")
    keys = {re.split(r"[.]", name)[0] for name in splitter}
    assert keys == set(Component.__struct_fields__)
    assert list(shown(project, "--component", "component2")["components"]) == ["component2"]


def test_secrets_are_hidden_wherever_they_stand(project: Path) -> None:
    for layout in ("pretty", "json"):
        ran = mlcheck("config", "show", "--format", layout, cwd=project)
        assert ran.returncode == 0
        assert "hunter2" not in ran.stdout
        assert "abc123" not in ran.stdout
        assert "--token=***" in ran.stdout


def test_a_table_for_people(project: Path) -> None:
    (project / "sub").mkdir()
    lines = mlcheck("config", "show", cwd=project / "sub").stdout.splitlines()
    assert lines[:3] == [f"Configuration: {project / 'mlcheck.toml'}", "", "settings"]
    assert "  timeout         mlcheck.toml:1  5" in lines
    assert '  env.API_TOKEN          mlcheck.toml:15  "***"' in lines
    assert max(map(len, lines[2:])) <= 80


def test_a_table_of_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n\n[tool.mlcheck]\ntimeout = 3\n', encoding="utf-8")
    whole = shown(tmp_path)
    assert table(whole["settings"])["timeout"] == (3, "pyproject.toml:5")
    assert whole["file"] == str(tmp_path / "pyproject.toml")


def test_without_a_file_it_says_where_it_looked(tmp_path: Path) -> None:
    folder = tmp_path / ("longer than a screen is wide " * 4)
    (folder / ".git").mkdir(parents=True)
    ran = mlcheck("config", "show", cwd=folder)
    assert ran.returncode == 0
    lines = ran.stdout.splitlines()
    assert lines[0] == "Configuration: no file; looked for:"
    assert lines[1:3] == [f"  {folder / 'mlcheck.toml'}", f"  {folder / 'pyproject.toml'}"]
    assert {row["origin"] for row in shown(folder)["settings"]} == {"default"}


def test_the_places_are_those_where_a_file_is_found(tmp_path: Path) -> None:
    here = tmp_path / "a" / "b"
    here.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path.parent / config_file.NAME).touch()
    looked = list(places(here))
    assert [place.relative_to(tmp_path).as_posix() for place in looked] == [
        f"{folder}{name}" for folder in ("a/b/", "a/", "") for name in ("mlcheck.toml", "pyproject.toml")
    ]
    assert config_file.find(here) is None
    for place in reversed(looked):
        place.write_text("[tool.mlcheck]\n" if place.name == config_file.PYPROJECT else "", encoding="utf-8")
        assert config_file.find(here) == place


@pytest.mark.parametrize(
    ("text", "words", "env", "sentence"),
    [
        ("timeout = 'x'\n", (), {}, "mlcheck.toml:1: timeout: "),
        ("timeout =\n", (), {}, "no TOML"),
        ("", (), {"MLCHECK_TIMEOUT": "soon"}, "MLCHECK_TIMEOUT: "),
        (FILE, ("--component", "spliter"), {}, "did you mean splitter?"),
        ("", ("--format", "xml"), {}, "--format 'xml': it is one of pretty, json"),
    ],
)
def test_what_is_broken_is_a_sentence_and_exit_2(
    text: str, words: tuple[str, ...], env: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "mlcheck.toml").write_text(text, encoding="utf-8")
    ran = mlcheck("config", "show", *words, cwd=tmp_path, **env)
    assert ran.returncode == 2
    assert sentence in refusal(ran)


def test_what_is_shown_is_what_a_run_is_given(project: Path) -> None:
    config = config_file.load(project / "mlcheck.toml")
    assert {row.name: row.value for row in settings_of(config, {"MLCHECK_SEED": "7"})}["seed"] == 7
    for component in config.components:
        rows = {row.name: row.value for row in settings_of_component(config, component)}
        assert rows["task"] == component.task
        assert rows["settles"] == component.settling
