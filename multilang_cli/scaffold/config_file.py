"""``mlcheck.toml`` of components that were found in a project."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from multilang_cli.driver.launch import INTERPRETERS
from multilang_cli.reports.escape import escape
from multilang_cli.subject.options import Component

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from multilang_cli.subject.options import InputSource

SCHEMA = "https://multilang-cli.dev/schemas/config.schema.json"
_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
"""Characters that the name of a component can't have in the file: it is part of paths."""
_BARE = re.compile(r"[\w-]+")
_LOADS = (
    r"^\s*from\s+[.\w]*\b{0}\s+import\b|^\s*import\s+(?:[\w.]+\s*,\s*)*{0}\b",
    r"\b(?:require\w*|include\w*|import|from|source|dofile)\b\s*\(?\s*(?:__DIR__\s*\.\s*)?[\"'][^\"'\n]*(?<![\w-]){0}(?:\.\w+)?[\"']",
    r"^\s*(?:\.|source)\s+\S*(?<![\w-]){0}(?:\.\w+)?\s*$|^\s*use\s+{0}\b",
)
"""How a program loads a file of that name: Python; a quoted path, in most languages; a shell, and Perl."""
_FOUR_DIGITS = 0x10000


def components_beside(folder: Path) -> tuple[Component, ...]:
    """Programs in a resources folder: files whose suffix or shebang makes them one, but for Storm's libraries."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and _is_program(path))
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in files}
    programs = [path for path in files if not any(_loads(texts[each], path.stem) for each in files if each != path)]
    found = programs or files
    return tuple(Component(command=(path.name,), kind="auto", name=path.stem, cwd=str(folder)) for path in found)


def _loads(text: str, stem: str) -> bool:
    """Tell the text of a program that loads the file of that name as a library, in any language."""
    return any(re.search(pattern.format(re.escape(stem)), text, re.MULTILINE) for pattern in _LOADS)


def _is_program(path: Path) -> bool:
    if path.suffix in INTERPRETERS:
        return path.stem != "storm" and not path.name.startswith(("_", "test_"))
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def config_text(components: Sequence[Component], origin: str) -> str:
    """The file: each component with what was found of it, and hints at what only its author knows."""
    head = f"#:schema {SCHEMA}\n# Made by mlcheck init from {escape(origin)}. `mlcheck docs config` tells every key.\n"
    return "\n".join([head, *("\n".join(_lines(each)) + "\n" for each in components)])


def _lines(component: Component) -> Iterator[str]:
    yield "[[component]]"
    yield f"name = {_value(_NO_NAME.sub('-', component.name).strip('.-') or 'component')}"
    if component.kind != "auto":
        yield f"kind = {_value(component.kind)}"
    yield f"command = {_value(list(component.command))}"
    if component.cwd:
        yield f"cwd = {_value(component.cwd)}"
    for key, table in (("conf", component.conf), ("env", component.env)):
        if table:
            yield f"{key} = {_value(table)}"
    for source in component.sources:
        yield from _source_lines(source)
    for name, stream in (component.streams or {}).items():
        yield f"\n[component.streams.{_key(name)}]"
        yield f"fields = {_value(list(stream.fields))}"
        if stream.direct:
            yield "direct = true"


def _source_lines(source: InputSource) -> Iterator[str]:
    yield "\n[[component.sources]]"
    yield f"component = {_value(source.component)}"
    if source.stream != "default":
        yield f"stream = {_value(source.stream)}"
    if source.fields is not None:
        yield f"fields = {_value(list(source.fields))}"
    if source.grouping not in (None, {"type": "SHUFFLE"}):
        yield f"grouping = {_value(source.grouping)}"
    yield "# samples = [[...]]      # tuples of it that the component takes; without one it is fed made-up ones"


def _value(value: Any) -> str:
    """A value as TOML has it: inline, keys quoted where they must be. None has no spelling, and is left out."""
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items() if each is not None)
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(_value(each) for each in value if each is not None)}]"
    # TOML has no spelling for half of a character; its infinities are in small letters.
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return "".join(map(_visible, text)) if isinstance(value, str) else text.lower().removesuffix("inity")


def _visible(character: str) -> str:
    """A character of a text, or its escape: who reads a command before it is run must see all of it."""
    code = ord(character)
    return character if character.isprintable() else f"\\u{code:04x}" if code < _FOUR_DIGITS else f"\\U{code:08x}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) and name.isascii() else _value(name)
