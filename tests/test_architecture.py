"""Rules of the house that no linter holds: names, the openings of docstrings, the size of folders."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "multilang_cli"
QUESTIONS = ("What", "How", "Who", "Where", "Why", "Which", "Whether")
ROOMS = ("bench", "evidence", "fuzz", "repl", "replay", "tap", "verify")
"""Rooms that keep these rules."""
OTHERS = (
    "kafka",
    "topology",
    "acking",
    "catalogue",
    "causes",
    "component",
    "host",
    "protocol",
    "reports",
    "transcript",
)
"""Rooms beside and below, whose names those must not take."""
MOST_FILES = 20


def modules(room: str) -> list[Path]:
    return sorted((PACKAGE / room).rglob("*.py"))


def classes(room: str) -> Iterator[tuple[str, str]]:
    """Names of public classes, each with its file and line."""
    for path in modules(room):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, f"{path.relative_to(PACKAGE)}:{node.lineno}"


@pytest.mark.parametrize("room", ROOMS)
def test_public_classes_have_names_of_their_own(room: str) -> None:
    places = defaultdict(list)
    for name, place in (each for other in (*ROOMS, *OTHERS) for each in classes(other)):
        places[name].append(place)
    own = {name for name, _ in classes(room)}
    assert own
    assert {name: places[name] for name in own if len(places[name]) > 1} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_open_with_what_a_thing_is_or_does(room: str) -> None:
    questions = []
    for path in modules(room):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or "-"
                if text.split()[0].rstrip(",:") in QUESTIONS:
                    questions.append(f"{path.relative_to(PACKAGE)}: {text.splitlines()[0]}")
    assert questions == []


@pytest.mark.parametrize("room", ROOMS)
def test_no_folder_has_too_many_files(room: str) -> None:
    counts = Counter(str(path.parent.relative_to(PACKAGE)) for path in modules(room))
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}
