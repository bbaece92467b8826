"""Rules of the house that no linter holds: names, the openings of docstrings, the size of folders."""

import ast
from collections import Counter, defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "multilang_cli"
MODULES = sorted(PACKAGE.rglob("*.py"))
ROOMS = sorted({path.relative_to(PACKAGE).parts[0] for path in MODULES})
QUESTIONS = ("What", "How", "Who", "Where", "Why", "Which", "Whether")
MOST_FILES = 20
LARGE = {"cli": 25}
"""Folders that may hold more files, by the most that they may."""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.long
def test_public_classes_have_names_of_their_own() -> None:
    places = defaultdict(list)
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert places
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


@pytest.mark.long
def test_a_number_of_one_word_is_one_number_everywhere() -> None:
    # Whoever reads `LOOK` or `ENOUGH` does not know what it counts: a second one with that name says it.
    values: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id.strip("_")
                if name.isupper() and "_" not in name and _is_number(node.value):
                    values[name][str(path.relative_to(PACKAGE))] = eval(ast.unparse(node.value))  # noqa: S307 (numbers alone)
    assert {name: found for name, found in values.items() if len(set(found.values())) > 1} == {}


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_open_with_what_a_thing_is_or_does(room: str) -> None:
    questions = []
    for path in MODULES:
        if path.relative_to(PACKAGE).parts[0] != room:
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or "-"
                if text.split()[0].rstrip(",:") in QUESTIONS:
                    questions.append(f"{path.relative_to(PACKAGE)}: {text.splitlines()[0]}")
    assert questions == []


def test_no_folder_has_too_many_files() -> None:
    counts = Counter(str(path.parent.relative_to(PACKAGE)) for path in MODULES)
    assert {folder: count for folder, count in counts.items() if count > LARGE.get(folder, MOST_FILES)} == {}


def test_modules_form_no_circle() -> None:
    names = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__") for path in MODULES
    }
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        graph[name] = {
            target
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.ImportFrom) and node.module
            for each in node.names
            if (target := f"{node.module}.{each.name}" if f"{node.module}.{each.name}" in names else node.module)
            in names
        }
    assert len(graph) > len(ROOMS)
    # The package hands on the names of its API only once they are asked for.
    assert graph.pop("multilang_cli") == {"multilang_cli.api"}
    # It raises CycleError, which names the modules, type-only imports counted.
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("room", ROOMS)
def test_whatever_has_a_public_name_says_what_it_is_for(room: str) -> None:
    silent = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in MODULES
        if path.relative_to(PACKAGE).parts[0] == room
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert silent == []
