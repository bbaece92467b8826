"""``mlcheck new``: what it writes passes, is the shipped example, and nothing of the user's is overwritten."""

from __future__ import annotations

import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from multilang_cli import __version__
from multilang_cli.catalogue import schemas
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.scaffold.writing import NAMES, WORKFLOW, languages
from multilang_cli.subject.testee import read_testee
from tests.command import ROOT, mlcheck, refusal

pytestmark = pytest.mark.component

ALL = ", ".join(sorted(languages()))
EACH = [(language, kind) for language in languages() for kind in NAMES]
each = pytest.mark.parametrize(("language", "kind"), EACH, ids=[" ".join(pair) for pair in EACH])


def named(text: str, kind: str) -> str:
    """Text of languages.toml, of a component of this kind."""
    return text.format(name=NAMES[kind], Name=NAMES[kind].title().replace("_", ""))


def new(folder: Path, *words: str) -> str:
    """What ``mlcheck new`` says that went well."""
    ran = mlcheck("new", *words, cwd=folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def steps_of(folder: Path) -> list[dict[str, Any]]:
    """The steps of the CI workflow in `folder`."""
    workflow = yaml.safe_load((folder / WORKFLOW).read_text(encoding="utf-8"))
    assert set(workflow) == {"name", True, "permissions", "jobs"}  # YAML 1.1 reads the key `on` as true
    steps: list[dict[str, Any]] = workflow["jobs"]["mlcheck"]["steps"]
    return steps


def lines_of(folder: Path) -> list[str]:
    """The lines of these steps that build and check, on a machine that has mlcheck and the language."""
    lines = [step["run"] for step in steps_of(folder) if "run" in step]
    setups = {each.setup for each in languages().values()}
    return [line for line in lines if line not in setups and "pip install" not in line]


def files_in(folder: Path) -> set[str]:
    """Every file, from `folder`."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.sample(1)
@each
def test_what_ci_would_run_is_green(language: str, kind: str, tmp_path: Path) -> None:
    new(tmp_path, kind, "--language", language, "made here")
    folder = tmp_path / "made here"
    *builds, run = lines_of(folder)
    for line in builds:
        subprocess.run(shlex.split(line), cwd=folder, check=True, capture_output=True)
    summary = tmp_path / "summary.md"
    summary.touch()
    ran = mlcheck(*shlex.split(run.replace("$GITHUB_STEP_SUMMARY", str(summary)))[1:], cwd=folder)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert b"<testcase" in (folder / "mlcheck.xml").read_bytes()
    assert NAMES[kind] in summary.read_text(encoding="utf-8")


@each
def test_the_component_is_the_shipped_example(language: str, kind: str, tmp_path: Path) -> None:
    made = new(tmp_path, kind, "--language", language).split("\n\n")[0].split()
    assert files_in(tmp_path) == set(made)
    sources = {named(to, kind): ROOT / named(source, kind) for to, source in languages()[language].files.items()}
    assert set(made) == {*sources, "mlcheck.toml", "README.md", WORKFLOW}
    assert named("{name}", kind) in {Path(file).stem for file in sources} or named("{Name}.java", kind) in str(sources)
    for file, source in sources.items():
        assert (tmp_path / file).read_text("utf-8") == source.read_text("utf-8").replace("%%{name}", NAMES[kind])


@pytest.mark.parametrize("language", [name for name, each in languages().items() if each.testee])
def test_a_testee_is_the_shipped_one(language: str, tmp_path: Path) -> None:
    said = new(tmp_path, "testee", "--language", language)
    assert files_in(tmp_path) == set(said.split("\n\n")[0].split())
    chosen = languages()[language].testee
    assert chosen is not None
    home = ROOT / "conformance" / "testees" / chosen.folder
    for file in chosen.files:
        assert (tmp_path / file).read_bytes() == (home / file).read_bytes()
    shipped, made = read_testee(home), read_testee(tmp_path)
    assert (made.supports, made.spout, len(made.prepare)) == (shipped.supports, shipped.spout, len(shipped.prepare))
    *builds, run = lines_of(tmp_path)
    assert [shlex.split(line) for line in builds] == [list(words) for words in made.prepare]
    assert "mlcheck run --testee . --strict" in run
    assert said.endswith("mlcheck run --testee .\n")
    assert f"It tests {shipped.library.name} (" in said
    ships = any(file.startswith("known-failures") for file in chosen.files)
    assert ("delete known-failures-*.txt, which excuse" in said) == ships


@pytest.mark.sample(1)
@pytest.mark.parametrize("language", [name for name, each in languages().items() if each.testee])
def test_a_new_testee_is_built_and_plays(language: str, tmp_path: Path) -> None:
    new(tmp_path, "testee", "--language", language)
    for words in read_testee(tmp_path).prepare:
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    ran = mlcheck("run", "--testee", ".", "-k", "library.bolt.settle.once", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 passed" in ran.stdout


@each
def test_configuration_and_workflow_are_whole(language: str, kind: str, tmp_path: Path) -> None:
    said = new(tmp_path, kind, "--language", language, "x")
    config = tomllib.loads((tmp_path / "x" / "mlcheck.toml").read_text(encoding="utf-8"))
    assert schemas.explain(config, "config") == []
    [component] = config["component"]
    assert (component["name"], component["kind"]) == (NAMES[kind], kind)
    steps = steps_of(tmp_path / "x")
    lines = [step["run"] for step in steps if "run" in step]
    assert f"multilang-cli=={__version__}" in " ".join(lines)
    assert not languages()[language].setup or languages()[language].setup in lines
    build = named(languages()[language].build, kind)
    following = ["cd x", *([build] if build else []), "mlcheck run"]
    assert said.endswith(f"\nNext: {' && '.join(following)}\n")
    text = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "x").rglob("*") if path.is_file())
    assert "%%" not in text.replace("%%c", "")


def test_what_the_configuration_says_in_comments_holds_as_well(tmp_path: Path) -> None:
    for kind in NAMES:
        new(tmp_path, kind, "--language", "python", kind)
        text = (tmp_path / kind / "mlcheck.toml").read_text(encoding="utf-8")
        lines = [
            line.removeprefix("# ") if line.startswith("# ") and "=" in line else line for line in text.split("\n")
        ]
        lines = [line.removeprefix("# ") if line.startswith("# [") else line for line in lines]
        plain = tomllib.loads("\n".join(lines))
        assert len(plain["component"][0]) >= 6
        assert schemas.explain(plain, "config") == []


@pytest.mark.parametrize("file", ["mlcheck.toml", "split_bolt.rb", "README.md", WORKFLOW])
def test_nothing_is_overwritten(file: str, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("mine", encoding="utf-8")
    ran = mlcheck("new", "bolt", "--language", "ruby", cwd=tmp_path)
    assert ran.returncode == 2
    assert file in refusal(ran)
    assert [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]


def test_not_even_a_dangling_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").symlink_to(tmp_path / "elsewhere")
    assert "mlcheck.toml" in refusal(mlcheck("new", "spout", "--language", "c", cwd=tmp_path))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bolt", "--language", "pyton"), ["'pyton'", "did you mean python?", ALL]),
        (("bolt", "--language", "cobol"), ["'cobol'", ALL]),
        (("bolt",), ["--language", ALL]),
        (
            ("testee", "--language", "cobol"),
            ["no testee in 'cobol'", "c, go, java", "`mlcheck docs testees` has the contract"],
        ),
        (("blot", "--language", "c"), ["'blot'", "did you mean bolt?"]),
        (("bolt", "--language", "c", "/dev/null/x"), ["/dev/null/x"]),
    ],
)
def test_a_mistake_is_told(words: tuple[str, ...], said: list[str], tmp_path: Path) -> None:
    ran = mlcheck("new", *words, cwd=tmp_path)
    assert ran.returncode == 2
    told = refusal(ran)
    assert [text for text in said if text not in told] == []
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["new", "--help"]) == 0
    *most, last = sorted(languages())
    assert f"{', '.join(most)} or {last}" in " ".join(capsys.readouterr().out.split())
