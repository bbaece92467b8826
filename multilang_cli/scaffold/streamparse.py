"""Components of a streamparse project: read from its topologies and classes, of which nothing is run."""

from __future__ import annotations

import ast
import os
import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from multilang_cli.catalogue.texts import TextError, file_text
from multilang_cli.subject.options import Component, InputSource, StreamDeclaration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUNNER = "streamparse_run"
"""The program by which streamparse starts a class."""


_GROUPINGS: dict[str, dict[str, Any]] = {
    "GLOBAL": {"type": "FIELDS", "fields": []},
    **{name: {"type": name} for name in ("SHUFFLE", "ALL", "NONE", "DIRECT", "LOCAL_OR_SHUFFLE")},
    "custom_object": {"type": "CUSTOM_OBJECT"},
    "custom_serialized": {"type": "CUSTOM_SERIALIZED"},
}
"""Members of streamparse's Grouping, as the topology context shows them; `fields` has a list of its own."""


class _Input(NamedTuple):
    """A stream that a component reads; `grouping` None: streamparse's choice, or one that only a run would tell."""

    component: str
    stream: str
    grouping: dict[str, Any] | None


class _Spec(NamedTuple):
    """One ``name = Class.spec(...)`` of a topology: its class, where that is, and the streams it reads, in order."""

    name: str
    of: str
    module: str
    inputs: tuple[_Input, ...]


def components_in(project: Path) -> tuple[Component, ...]:
    """The components of every topology below ``topologies/``. Raises OSError, SyntaxError and TextError."""
    found: dict[str, Component] = {}
    for file in sorted(each for each in (project / "topologies").glob("*.py") if each.is_file()):
        try:
            specs = {spec.name: spec for spec in _specs(_parsed(file))}
            declared = {name: _outputs(project, spec) for name, spec in specs.items()}
        except (RecursionError, MemoryError):
            raise TextError(str(file), None, "it, or a class that it names, is nested too deep") from None
        for name, spec in specs.items():
            found.setdefault(name, _component(project, spec, declared))
    return tuple(found.values())


def _parsed(file: Path) -> ast.Module:
    """The syntax tree of a file. Raises OSError, SyntaxError, TextError, RecursionError, MemoryError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(file_text(file), str(file))
    except UnicodeDecodeError as error:
        raise TextError(str(file), None, f"it is not UTF-8: byte {error.start}") from None
    except TextError:
        raise
    except (ValueError, SyntaxError) as error:
        if getattr(error, "filename", None):
            raise
        raise TextError(str(file), None, f"it can't be read: {error}") from None


def _specs(tree: ast.Module) -> Iterator[_Spec]:
    modules = {
        alias.asname or alias.name: (alias.name, node.module or "")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            continue
        call, target = node.value, node.targets[0]
        is_spec = isinstance(call.func, ast.Attribute) and call.func.attr == "spec"
        if not (is_spec and isinstance(target, ast.Name)):
            continue
        of = ast.unparse(call.func.value)  # type: ignore[attr-defined]
        name, module = modules.get(of, (of, ""))
        inputs = next((keyword.value for keyword in call.keywords if keyword.arg == "inputs"), None)
        yield _Spec(target.id, name, module, tuple(_inputs(inputs)))


def _inputs(node: ast.expr | None) -> Iterator[_Input]:
    """Components and streams: ``[a, b["late"]]``, or a dictionary of them and their groupings."""
    told: list[tuple[ast.expr | None, ast.expr | None]] = []
    if isinstance(node, ast.List | ast.Tuple):
        told = [(each, None) for each in node.elts]
    elif isinstance(node, ast.Dict):
        told = list(zip(node.keys, node.values, strict=True))
    for key, value in told:
        if isinstance(key, ast.Name):
            yield _Input(key.id, "default", _grouping(value))
        elif isinstance(key, ast.Subscript) and isinstance(key.value, ast.Name):
            stream = str(ast.literal_eval(key.slice)) if isinstance(key.slice, ast.Constant) else "default"
            yield _Input(key.value.id, stream, _grouping(value))


def _grouping(node: ast.expr | None) -> dict[str, Any] | None:
    """``Grouping.ALL``, ``Grouping.fields("a", "b")`` or ``Grouping.fields(["a", "b"])``; None of anything else."""
    call = node if isinstance(node, ast.Call) else None
    member = call.func if call else node
    if not isinstance(member, ast.Attribute):
        return None
    if call is None or member.attr != "fields":
        return _GROUPINGS.get(member.attr)
    named = [_literal(each) for each in call.args]
    fields = [field for each in named for field in (each if isinstance(each, list | tuple) else [each])]
    return {"type": "FIELDS", "fields": fields} if all(isinstance(field, str) for field in fields) else None


def _outputs(project: Path, spec: _Spec) -> dict[str, StreamDeclaration]:
    """The streams that a class declares as ``outputs``; none where its source is not in the project."""
    body = _class_body(project, spec)
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "outputs":
            return dict(_streams(node.value))
    return {}


def _class_body(project: Path, spec: _Spec) -> list[ast.stmt]:
    path = project.joinpath("src", *spec.module.split(".")).with_suffix(".py")
    # A path from a file may be longer than any, of which pathlib says so by an error.
    if not spec.module or not os.path.isfile(path):  # noqa: PTH113
        return []
    found = (node for node in _parsed(path).body if isinstance(node, ast.ClassDef) and node.name == spec.of)
    return next(found, ast.ClassDef(spec.of, [], [], [], [])).body


def _streams(node: ast.expr) -> Iterator[tuple[str, StreamDeclaration]]:
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    fields = tuple(str(each.value) for each in elements if isinstance(each, ast.Constant))
    if fields:
        yield "default", StreamDeclaration(fields)
    for each in elements:
        if isinstance(each, ast.Call):
            told = {keyword.arg: _literal(keyword.value) for keyword in each.keywords}
            named = told.get("fields")
            listed = named if isinstance(named, list | tuple) else ()
            yield (
                str(told.get("name") or "default"),
                StreamDeclaration(tuple(map(str, listed)), bool(told.get("direct"))),
            )


def _literal(node: ast.expr) -> object:
    """The value of a literal; None of what only a run would tell."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None


def _component(project: Path, spec: _Spec, declared: dict[str, dict[str, StreamDeclaration]]) -> Component:
    nothing = StreamDeclaration()
    streams = [(each, declared.get(each.component, {}).get(each.stream, nothing)) for each in spec.inputs]
    sources = tuple(
        InputSource(
            each.component,
            each.stream,
            stream.fields or None,
            grouping=each.grouping or (_GROUPINGS["DIRECT"] if stream.direct else None),
        )
        for each, stream in streams
    )
    kind: Literal["bolt", "spout"] = "bolt" if spec.inputs else "spout"
    where = f"{spec.module}.{spec.of}" if spec.module else spec.of
    cwd = str(project / "src") if (project / "src").is_dir() else None
    return Component(
        command=(RUNNER, where),
        kind=kind,
        name=spec.name,
        cwd=cwd,
        sources=sources,
        streams=declared[spec.name] or None,
    )
