"""Says what goes wrong, but not with every call of Storm. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SAME_TROUBLE = 10.0
"""Seconds between two log lines about the same trouble."""
_NUMBERS = re.compile(r"\d+")


class Troubles:
    """Hands sentences to `log`, the same one at most every SAME_TROUBLE seconds; numbers in it make no difference."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._told: dict[str, float] = {}

    def tell(self, what: str, now: float) -> None:
        """Something is wrong."""
        self._told = {said: at for said, at in self._told.items() if now - at < SAME_TROUBLE}
        kind = _NUMBERS.sub("#", what)
        if kind not in self._told:
            self._told[kind] = now
            self._log(what)
