"""Rules of the house that no linter holds: names, the openings of docstrings, the size of folders."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

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


@cache
def docstrings() -> list[tuple[str, str, str]]:
    """The place, name and docstring of every module, class and function; "" where there is none."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (str(path.relative_to(PACKAGE)), getattr(node, "name", ""), ast.get_docstring(node) or "")
        for path in MODULES
        for node in definitions(tree_of(path))
        if isinstance(node, kinds)
    ]


def definitions(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all statements below it: a class or a function stands in no expression."""
    yield node
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for each in getattr(node, field, ()) if not isinstance(node, ast.expr) else ():
            yield from definitions(each)


def test_docstrings_open_with_what_a_thing_is_or_does() -> None:
    questions = [
        f"{place}: {text.splitlines()[0]}"
        for place, _, text in docstrings()
        if text and text.split()[0].rstrip(",:") in QUESTIONS
    ]
    assert questions == []


def test_whatever_has_a_public_name_says_what_it_is_for() -> None:
    assert len(docstrings()) > len(MODULES)
    assert [f"{place}: {name}" for place, name, text in docstrings() if name and name[0] != "_" and not text] == []


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


@pytest.mark.long
def test_names_that_tests_replace_are_there() -> None:
    # mypy sees no name in a string: one that moves would be missed by nothing faster than the test that needs Spark.
    checked, missing = 0, []
    for path in sorted(Path(__file__).parent.rglob("test_*.py")):
        modules = dict(_imported_modules(path))
        for module, name in _replaced(path):
            if module in modules:
                checked += 1
                if name not in set(_names_of(modules[module])):
                    missing.append(f"{path.name}: {module}.{name}")
    assert checked
    assert missing == []


def _imported_modules(path: Path) -> Iterator[tuple[str, Path]]:
    """The name that the file gives each module of ours that it imports, and the module's file."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE.name:
            for alias in node.names:
                file = PACKAGE.parent.joinpath(*node.module.split("."), alias.name).with_suffix(".py")
                if file.exists():
                    yield alias.asname or alias.name, file


def _replaced(path: Path) -> Iterator[tuple[str, str]]:
    """The module and the name of every `setattr(module, "name", …)` in the file."""
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="setattr"), args=[ast.Name(id=module), ast.Constant(value=str(name)), *_]
            ):
                yield module, name


def _names_of(path: Path) -> Iterator[str]:
    """All names that the module binds outside its functions and classes."""
    for node in tree_of(path).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.asname or alias.name.split(".")[0] for alias in aliases)
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
