"""``--redact`` of every command that shows or writes what a component said, and ``[redact]`` of mlcheck.toml."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from multilang_cli.cli.options.table import OptionTable, texts
from multilang_cli.terminal.exits import CommandError
from multilang_cli.transcript.given import BY_PATTERN, GIVEN

NAME = "redact"
REDACT: OptionTable = {
    NAME: texts(
        BY_PATTERN,
        "PATTERN",
        "Hide what this regular expression matches, or its first group. Repeatable; [redact] in mlcheck.toml.",
    )
}


def declare_given(command: str, values: dict[str, Any], *, configured: bool) -> None:
    """Take the option out of `values`, and heed it; the file as well if `configured`. Raises CommandError."""
    patterns: list[str] = values.pop(NAME, None) or []
    for pattern in patterns:
        _heed(f"{command}: {BY_PATTERN} {pattern[:60]!r}", patterns=[pattern])
    if configured:
        _heed_file()


def _heed_file() -> None:
    from multilang_cli.subject.config import declared_secret, find  # noqa: PLC0415 (slow to import)

    path = find(Path.cwd())
    found = declared_secret(path) if path is not None else {}
    for key, expressions in found.items():
        for each in expressions:
            _heed(f"{path}: {NAME}.{key} {each[:60]!r}", **{key: [each]})


def _heed(where: str, patterns: Iterable[str] = (), names: Iterable[str] = ()) -> None:
    try:
        if any(re.search(text, "") for text in (*patterns, *names)):
            raise CommandError(f"{where}: it matches where nothing is, so it would hide everything.")
        GIVEN.add(patterns=patterns, names=names)
    except (re.error, OverflowError, RecursionError) as error:
        raise CommandError(f"{where} is no regular expression: {error}.") from None
