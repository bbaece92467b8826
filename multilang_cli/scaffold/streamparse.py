"""Components of a streamparse project: read from its topologies and classes, of which nothing is run."""

from __future__ import annotations

import ast
import os
import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from multilang_cli.catalogue.texts import TextError, file_text
from multilang_cli.scaffold.places import in_own_environment
from multilang_cli.subject.options import Component, InputSource, StreamDeclaration
from multilang_cli.subject.streamparse_settings import settings_of
from multilang_cli.transcript.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUNNER = "streamparse_run"
"""The program by which streamparse starts a class."""
_JAVA, _SHELL = frozenset({"JavaBolt", "JavaSpout"}), frozenset({"ShellBolt", "ShellSpout"})
"""Classes of streamparse's own: components in Java, which have no process, and programs in another language."""

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
    """One ``variable = Class.spec(...)`` of a topology: its class, where that is, and the streams it reads, in order.

    `name`: the component's, the variable's unless another is told. `told`: its keyword arguments.
    """

    variable: str
    name: str
    of: str
    module: str
    inputs: tuple[_Input, ...]
    told: dict[str, ast.expr]


def is_project(folder: Path) -> bool:
    """True for a folder with topologies: where its config.json says, or where they usually are."""
    try:
        topologies = settings_of(folder).topology_specs
    except TextError:  # the config.json of something else
        topologies = "topologies"
    # A path from a file may be longer than any, of which pathlib says so by an error.
    return folder / topologies != folder and os.path.isdir(folder / topologies)  # noqa: PTH112


def components_in(project: Path) -> tuple[Component, ...]:
    """The components of every topology of a project. Raises OSError, SyntaxError and TextError.

    One that has the name of another, in another topology, has that topology's name before its own. Conf is as
    streamparse submits it: a topology's own over that of the first environment of config.json.
    """
    settings = settings_of(project)
    options = without_secrets(settings.options)
    found: dict[str, Component] = {}
    for file in sorted(each for each in (project / settings.topology_specs).glob("*.py") if each.is_file()):
        try:
            tree = _parsed(file)
            specs = {spec.variable: spec for spec in _specs(tree)}
            declared = {name: _outputs(project, spec) for name, spec in specs.items()}
            made = [_component(project, spec, specs, declared) for spec in specs.values() if spec.of not in _JAVA]
        except (RecursionError, MemoryError):
            raise TextError(str(file), None, "it, or a class that it names, is nested too deep") from None
        conf = options | _conf(tree)
        for each in (msgspec.structs.replace(each, conf=conf) for each in made):
            other = found.setdefault(each.name, each)
            if other != each:
                name = f"{file.stem}.{each.name}"
                found[name] = msgspec.structs.replace(each, name=name)
    return tuple(found.values())


def _conf(tree: ast.Module) -> dict[str, Any]:
    """The conf that a topology's class has as ``config``, where it is a literal, without secrets."""
    for topology in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        told = _assigned(topology.body, "config")
        if told is not None and isinstance(conf := _literal(told), dict):
            return without_secrets({key: value for key, value in conf.items() if isinstance(key, str)})
    return {}


def _assigned(body: list[ast.stmt], name: str) -> ast.expr | None:
    """The value assigned to a name in the body of a class; None if nothing is."""
    for node in body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            return node.value
    return None


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
    imported = _imported(tree)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            continue
        call, target = node.value, node.targets[0]
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "spec" and isinstance(target, ast.Name)):
            continue
        module, _, of = _place_of(ast.unparse(call.func.value), imported).rpartition(".")
        told = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        # Of streamparse's own classes the second argument is another.
        told = dict(zip(("name", "inputs") if of not in _SHELL else ("name",), call.args, strict=False)) | told
        name = _literal(told["name"]) if "name" in told else None
        inputs = tuple(_inputs(told.get("inputs")))
        yield _Spec(target.id, name if isinstance(name, str) else target.id, of, module, inputs, told)


def _imported(tree: ast.AST) -> dict[str, str]:
    """The imports of a file: the dotted path by the name that it has there."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {each.asname or each.name: f"{node.module or ''}.{each.name}".strip(".") for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.asname: each.name for each in node.names if each.asname}
    return found


def _place_of(written: str, imported: dict[str, str]) -> str:
    """The dotted path of a class as it is written: ``words.WordSpout`` after ``from spouts import words``."""
    first, dot, rest = written.partition(".")
    return f"{imported.get(first, first)}{dot}{rest}"


def _inputs(node: ast.expr | None) -> Iterator[_Input]:
    """Components and streams: ``[a, b["late"]]``, or a dictionary of them and their groupings."""
    told: list[tuple[ast.expr | None, ast.expr | None]] = []
    if isinstance(node, ast.List | ast.Tuple):
        told = [(each, None) for each in node.elts]
    elif isinstance(node, ast.Dict):
        told = list(zip(node.keys, node.values, strict=True))
    elif node is not None:
        told = [(node, None)]
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
    """The streams that a spec or its class declares as ``outputs``; none where its source is not in the project."""
    told = spec.told.get("outputs") or _inherited(project, f"{spec.module}.{spec.of}".strip("."), set())
    return dict(_streams(told)) if told else {}


def _inherited(project: Path, place: str, seen: set[str]) -> ast.expr | None:
    """``outputs`` of a class of the project, by its dotted path, or of the first of its bases that has them."""
    module, _, of = place.rpartition(".")
    path = project.joinpath("src", *module.split(".")).with_suffix(".py")
    # A path from a file may be longer than any, of which pathlib says so by an error.
    if not module or place in seen or not os.path.isfile(path):  # noqa: PTH113
        return None
    seen.add(place)
    tree = _parsed(path)
    found = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == of), None)
    if found is None:
        return None
    if (told := _assigned(found.body, "outputs")) is not None:
        return told
    here = {node.name: f"{module}.{node.name}" for node in tree.body if isinstance(node, ast.ClassDef)}
    bases = (_inherited(project, _place_of(ast.unparse(base), _imported(tree) | here), seen) for base in found.bases)
    return next((base for base in bases if base is not None), None)


def _streams(node: ast.expr) -> Iterator[tuple[str, StreamDeclaration]]:
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    fields = tuple(str(each.value) for each in elements if isinstance(each, ast.Constant))
    if fields:
        yield "default", StreamDeclaration(fields)
    for each in elements:
        if isinstance(each, ast.Call):
            told = dict(zip(("fields", "name", "direct"), map(_literal, each.args), strict=False))
            told |= {keyword.arg or "": _literal(keyword.value) for keyword in each.keywords}
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


def _component(
    project: Path, spec: _Spec, specs: dict[str, _Spec], declared: dict[str, dict[str, StreamDeclaration]]
) -> Component:
    nothing = StreamDeclaration()
    streams = [(each, declared.get(each.component, {}).get(each.stream, nothing)) for each in spec.inputs]
    sources = tuple(
        InputSource(
            specs[each.component].name if each.component in specs else each.component,
            each.stream,
            stream.fields or None,
            grouping=each.grouping or (_GROUPINGS["DIRECT"] if stream.direct else None),
        )
        for each, stream in streams
    )
    kind: Literal["bolt", "spout"] = "bolt" if spec.inputs or spec.of == "ShellBolt" else "spout"
    cwd = project / "src"
    return Component(
        command=_command(project, spec),
        kind=kind,
        name=spec.name,
        cwd=str(cwd) if cwd.is_dir() else None,
        sources=sources,
        streams=declared[spec.variable] or None,
    )


def _command(project: Path, spec: _Spec) -> tuple[str, ...]:
    """Start a class by streamparse's own program; a ShellBolt or ShellSpout as Storm does: its script is one word."""
    if spec.of in _SHELL:
        return tuple(str(_literal(spec.told[name])) for name in ("command", "script") if name in spec.told)
    cwd = project / "src" if (project / "src").is_dir() else project
    return (in_own_environment(RUNNER, project, cwd), f"{spec.module}.{spec.of}".strip("."))
