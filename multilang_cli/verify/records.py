"""Verdicts of the oracle as files (``conformance/oracle/README.md``).

Standard library only, like ``oracle_program``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from multilang_cli.transcript.private import USUAL_FILE, whole_file
from multilang_cli.verify.oracle_program import parsed

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.catalogue.oracle import Verdict

    Verdicts = dict[str, dict[str, Verdict]]
    """By case, then by version."""


def render(verdicts: Verdicts) -> str:
    """The file's text: a line a version, so that differences can be read."""
    blocks = []
    for name, by_version in verdicts.items():
        lines = [f"  {json.dumps(version)}: {json.dumps(verdict)}" for version, verdict in by_version.items()]
        blocks.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def updated(old: Verdicts, new: Verdicts) -> Verdicts:
    """`old` with what `new` says of its cases and versions in the place of what it said; versions newest first."""
    merged = old | {name: old.get(name, {}) | by_version for name, by_version in new.items()}
    return {name: dict(sorted(each.items(), key=_age)) for name, each in merged.items()}


def _age(entry: tuple[str, Verdict]) -> tuple[int, ...]:
    return tuple(-number for number in parsed(entry[0]))


def write_whole(path: Path, text: str) -> None:
    """Write `path` at one stroke: a reader sees the old file or the new one, never half of it. Raises OSError."""
    with whole_file(path, "w", permissions=USUAL_FILE, encoding="utf-8") as file:
        file.write(text)
