"""Lines of the values of a YAML text: for errors that name a line."""

from __future__ import annotations

from typing import Any

import yaml

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def lines_of(text: str | bytes) -> dict[str, int]:
    """The line of every value, counted from 1, by JSON pointer. JSON can be given too: it is nearly YAML.

    Raises yaml.YAMLError for what is none, and RecursionError for what is nested too deep.
    """
    found: dict[str, int] = {}
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", yaml.compose(text, Loader=_Loader))]
    while waiting:
        pointer, node = waiting.pop()
        # An anchor can stand in itself: each node is looked at once.
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        found[pointer] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            waiting += [(f"{pointer}/{_step(key)}", value) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [(f"{pointer}/{index}", value) for index, value in enumerate(node.value)]
    return found


def _step(key: Any) -> str:
    return str(key.value).replace("~", "~0").replace("/", "~1")
