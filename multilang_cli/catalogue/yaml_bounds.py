"""Bounds of YAML files: libyaml's composer recurses in C, and a file that is nested too deep would end the process."""

from __future__ import annotations

from typing import Any

import yaml

DEEPEST = 200
"""Levels of lists and mappings in a YAML file."""
_OPENERS = b"[{-:?"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def check_depth(data: bytes) -> None:
    """Raise yaml.YAMLError, with its mark, for a text that is nested too deep. Events are parsed without recursion."""
    if sum(data.count(opener) for opener in _OPENERS) <= DEEPEST:
        return
    depth = 0
    for event in yaml.parse(data, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise yaml.MarkedYAMLError(problem="it is nested too deep", problem_mark=event.start_mark)  # type: ignore[arg-type]
