"""Commands that GitHub's runner reads from what a step prints, a component's words among it, and obeys.

They are lines that begin with ``::`` after blanks, and ``##[`` anywhere in a line
(https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_INSIDE = re.compile(r"##(?=\[)")
_ANYWHERE = re.compile(rf"^[^\S\n]*:(?=:)|{_INSIDE.pattern}", re.MULTILINE)


def in_workflow() -> bool:
    """True if a workflow of GitHub runs us."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def by_value(character: str) -> str:
    """A character by its code, as Python writes it."""
    return f"\\x{ord(character):02x}"


def disarmed(text: str, write: Callable[[str], str] = by_value) -> str:
    """`text` without commands: of each, `write` shows one character otherwise."""
    return _ANYWHERE.sub(lambda found: found[0][:-1] + write(found[0][-1]), text)


def disarmed_inside(text: str, write: Callable[[str], str] = by_value) -> str:
    """The same for what does not stand at the beginning of a line."""
    return _INSIDE.sub(lambda found: found[0][:-1] + write(found[0][-1]), text)
