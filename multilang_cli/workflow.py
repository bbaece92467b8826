"""Commands that a CI's runner reads from what a step prints, a component's words among it, and obeys.

GitHub's are lines that begin with ``::`` after blanks, and ``##[`` anywhere in a line
(https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands); those of Azure Pipelines begin with
``##[`` or ``##vso[``, by which a step ends as succeeded and files are sent
(https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands), those of TeamCity with ``##teamcity[``
(https://www.jetbrains.com/help/teamcity/service-messages.html).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_INSIDE = re.compile(r"##(?=(?:vso|teamcity)?\[)", re.IGNORECASE)
_ANYWHERE = re.compile(rf"^[^\S\n]*:(?=:)|{_INSIDE.pattern}", re.IGNORECASE | re.MULTILINE)
_SET_BY_RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")


def in_workflow() -> bool:
    """True if a runner reads what we print."""
    return any(os.environ.get(name) for name in _SET_BY_RUNNERS)


def by_value(character: str) -> str:
    """A character by its code, as Python writes it."""
    return f"\\x{ord(character):02x}"


def disarmed(text: str, write: Callable[[str], str] = by_value) -> str:
    """`text` without commands: of each, `write` shows one character otherwise."""
    return _ANYWHERE.sub(lambda found: found[0][:-1] + write(found[0][-1]), text)


def disarmed_inside(text: str, write: Callable[[str], str] = by_value) -> str:
    """The same for what does not stand at the beginning of a line."""
    return _INSIDE.sub(lambda found: found[0][:-1] + write(found[0][-1]), text)
