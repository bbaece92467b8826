"""Every command of every page is typed, in a folder that has the files the page names, or is named with why not.

Tutorials and recipes for libraries are followed as they stand, by tests of their own. Commands in running text are
parsed (``test_docs_users``).
"""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT
from tests.following.folders import FOLDERS
from tests.following.reader import Reader, Step, blocks_of
from tests.test_docs_users import given

WHOLE = {"ci-libraries", *(f"tutorials/{page.stem}" for page in (ROOT / "docs" / "tutorials").glob("*.md"))}
"""Pages that are followed without exception."""
TOLD: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "pages.toml").read_text(encoding="utf-8"))
SPARK, KAFKA, STORM, COMPONENT = pytest.mark.spark, pytest.mark.kafka, pytest.mark.storm, pytest.mark.component
STAGES = {"spark": SPARK, "kafka": KAFKA, "storm": STORM, "component": COMPONENT}
OPTION = re.compile(r"(?<=\s)--?[a-z][\w-]*")
ASSIGNED = re.compile(r"^\w+=\S+$")
EXTRA = re.compile(r"\[(\w+)\]")


def text_of(name: str) -> str:
    """A page, by its name."""
    path = ROOT / f"{name}.md"
    return (path if path.exists() else ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def pages() -> dict[str, list[Step]]:
    """Every page for readers that has anything to type, with that."""
    paths = [*(page.stem for page in ROOT.glob("*.md"))]
    paths += [page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    found = {name: [step for block in blocks_of(text_of(name)) for step in block.steps()] for name in sorted(paths)}
    return {name: steps for name, steps in found.items() if steps}


PAGES = pages()
PLAYED = [name for name in PAGES if name not in WHOLE]
NOT_RUN = [
    (name, line, how["not-run"])
    for name, page in TOLD.items()
    for line, how in page.get("lines", {}).items()
    if "not-run" in how
]


def told(name: str) -> dict[str, dict[str, Any]]:
    """What is said of the lines of a page."""
    found: dict[str, dict[str, Any]] = TOLD.get(name, {}).get("lines", {})
    return found


def command_of(line: str) -> list[str]:
    """The words of a line behind what it sets in the environment."""
    words = shlex.split(line)
    while words and ASSIGNED.match(words[0]):
        del words[0]
    return words


def test_nothing_is_told_of_what_no_page_has() -> None:
    assert TOLD.keys() - set(PLAYED) == set()
    for name in TOLD:
        assert told(name).keys() - {step.line for step in PAGES[name]} == set(), name


@pytest.mark.parametrize(("name", "line", "why"), NOT_RUN)
def test_a_line_that_is_not_run_says_why_and_is_known(name: str, line: str, why: str) -> None:
    assert len(why.split()) > 1, name
    program, *words = command_of(line)
    for path in (word.strip(",;") for word in why.split() if word.startswith("tests/")):
        assert words[0] in (ROOT / path).read_text(encoding="utf-8"), f"{path} plays no {words[0]}"
    look = LOOKS.get(Path(program).name)
    assert look is not None, f"{program} is not known: is it a command that can be run?"
    look(words)


def _mlcheck(words: list[str]) -> None:
    assert given(words)


def _python(words: list[str]) -> None:
    if words[0] == "dev.py":
        assert re.search(
            rf"^    python3 dev\.py {words[1]}\b", (ROOT / "dev.py").read_text(encoding="utf-8"), re.MULTILINE
        )
    elif words[0] == "-m" and words[1] != "venv":
        spec = find_spec(words[1])
        assert spec is not None
        assert spec.origin is not None
        file = Path(spec.origin)
        code = (file.with_name("__main__.py") if file.name == "__init__.py" else file).read_text(encoding="utf-8")
        assert [word for word in words if word.startswith("--") and f'"{word}"' not in code] == []


def _pip(words: list[str]) -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {extra for word in words for extra in EXTRA.findall(word)}
    assert extras <= known["optional-dependencies"].keys()
    assert [word for word in words if "==" in word and word != f"{known['name']}=={known['version']}"] == []


def _spark_submit(words: list[str]) -> None:
    _mlcheck(words[words.index("submit.py") + 1 :])


def _entry_point(_: list[str]) -> None:
    assert "mlcheck-kafka-spout" in entry_points(group="console_scripts").names


LOOKS = {
    "mlcheck": _mlcheck,
    "mlcheck-kafka-spout": _entry_point,
    "pip": _pip,
    "python": _python,
    "python3": _python,
    "spark-submit": _spark_submit,
}
"""How a line is looked at that is not run, by its program."""


@pytest.mark.parametrize("name", TOLD)
def test_what_is_typed_in_place_of_a_line_has_its_command_and_options(name: str) -> None:
    for line, how in told(name).items():
        assert how.keys() in ({"not-run"}, {"as"}, {"code"}, {"as", "code"}), line
        if instead := how.get("as"):
            assert Path(command_of(instead)[0]).name == Path(command_of(line)[0]).name == "mlcheck"
            assert command_of(instead)[1] == command_of(line)[1]
            assert set(OPTION.findall(line)) <= set(OPTION.findall(instead))


def _marked(name: str) -> Any:
    return pytest.param(name, marks=STAGES[TOLD.get(name, {}).get("stage", "component")])


@pytest.mark.sample(0)
@pytest.mark.parametrize("name", [_marked(name) for name in PLAYED])
def test_each_command_of_a_page_runs(name: str, tmp_path: Path) -> None:
    page = TOLD.get(name, {})
    for folder in page.get("folder", ()):
        FOLDERS[folder](tmp_path)
    instead = {
        line: None if "not-run" in how else Step(line, plays=how.get("as", ""), code=how.get("code"))
        for line, how in told(name).items()
    }
    reader = Reader(tmp_path, COLUMNS=str(page.get("columns", 80)))
    for block in blocks_of(text_of(name)):
        reader.follow(block, instead)
