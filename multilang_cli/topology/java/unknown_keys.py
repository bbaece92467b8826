"""A Flux file less the keys that Storm's own Flux does not know: `dependencies`, and `config` of single components."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_VARIABLE = re.compile(r"\$\{[^}\n]*\}")
_COMMA = re.compile(r"\s*,")
_CHARACTER = re.compile(r"[^\r\n]")


def without_unknown_keys(text: str, lines: Collection[int]) -> str:
    """Spaces in place of such keys in those lines, and of their values: all others stay where they are.

    A text that is no YAML until its ``${name}`` are replaced stays as it is, so Flux says what it does not know.
    """
    if not lines:
        return text
    try:
        root = yaml.compose(_VARIABLE.sub(lambda found: "x" * len(found[0]), text), yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return text
    for key, value in _unknown(root):
        if key.start_mark.line + 1 in lines:
            start, end = key.start_mark.index, value.end_mark.index
            # Within braces a comma may stand before the closing one, but not behind the opening one.
            if comma := _COMMA.match(text, end):
                end = comma.end()
            text = text[:start] + _CHARACTER.sub(" ", text[start:end]) + text[end:]
    return text


def _unknown(root: yaml.Node | None) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    for key, value in _pairs(root):
        if key.value == "dependencies":
            yield key, value
        elif key.value in ("spouts", "bolts") and isinstance(value, yaml.SequenceNode):
            yield from (pair for part in value.value for pair in _pairs(part) if pair[0].value == "config")


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    return list(node.value) if isinstance(node, yaml.MappingNode) else []
