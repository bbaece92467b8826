"""Secrets that the user of this process declares, and those known everywhere in it.

Filled at the edge, by the command line, and emptied at its end; whoever uses mlcheck as a library has none of it.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BY_PATTERN = "--redact"
"""The key of what a pattern of the user's hides."""


class GivenSecrets(NamedTuple):
    """All of `Given` that another process needs in order to hide the same."""

    patterns: tuple[re.Pattern[str], ...]
    names: tuple[re.Pattern[str], ...]
    found: dict[str, list[Any]]


NO_SECRETS = GivenSecrets((), (), {})


class Given:
    """`patterns`: what they match is hidden. `names`: more keys with secrets. `found`: secrets by their keys.

    `changes`: how often something was added, so that what is made of it is made anew only then. `open`: true while
    a command is done; else nothing is learned.
    """

    def __init__(self) -> None:
        self.open = False
        self.patterns: tuple[re.Pattern[str], ...] = ()
        self.names: tuple[re.Pattern[str], ...] = ()
        self.found: dict[str, list[Any]] = {}
        self.changes = 0

    def add(self, *, patterns: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        """Hide what `patterns` match, and the values of keys in which one of `names` is found. Raises re.error."""
        self.patterns = (*self.patterns, *map(re.compile, patterns))
        self.names = (*self.names, *(re.compile(name, re.IGNORECASE) for name in names))
        self.changes += 1

    def learn(self, found: dict[str, list[Any]]) -> None:
        """Hide these secrets wherever they turn up."""
        if not self.open:
            return
        for key, values in found.items():
            known = self.found.setdefault(key, [])
            known += [value for value in values if value not in known]
        self.changes += 1

    def told(self) -> GivenSecrets:
        """All that is hidden, for another process."""
        return GivenSecrets(self.patterns, self.names, self.found)

    def take(self, told: GivenSecrets) -> None:
        """Hide what another process hides, and nothing else."""
        if told != self.told():
            self.patterns, self.names, self.found = told
            self.changes += 1

    @contextmanager
    def while_open(self) -> Iterator[None]:
        """Learn what is secret, and forget it in the end."""
        self.open = True
        try:
            yield
        finally:
            self.open = False
            self.patterns, self.names, self.found = (), (), {}
            self.changes += 1


GIVEN = Given()
"""That of this process."""
