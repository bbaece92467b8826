"""Patterns of case ids, given one by one or in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.line_files import parted, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_PATTERN = 1000
"""Characters of a pattern: what globs and nearness cost grows with its square."""


def patterns(flag: str, texts: Iterable[str]) -> tuple[str, ...]:
    """The patterns that `texts` name: each is one, or ``@file`` for a file with one a line.

    Raises ConfigError, also for a file without a pattern: to take it for everything would be a surprise.
    """
    found: list[str] = []
    for text in texts:
        found += _of_file(flag, text[1:]) if text.startswith("@") else [text]
    if long := next((pattern for pattern in found if len(pattern) > LONGEST_PATTERN), ""):
        raise ConfigError(
            f"{flag}: a pattern may have {LONGEST_PATTERN:,} characters; {long[:20]!r}... has {len(long):,}."
        )
    return tuple(found)


def _of_file(flag: str, name: str) -> list[str]:
    said = (parted(line)[0] for line in read_text(f"{flag} @", name).splitlines())
    found = [pattern for pattern in said if pattern]
    if not found:
        raise ConfigError(f"{flag} @{name}: there is no pattern in it; expected: one a line, comments after #.")
    return found
