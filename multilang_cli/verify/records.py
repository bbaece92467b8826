"""Scripts and verdicts of the oracle as files: reading, choosing, writing (``conformance/oracle/README.md``).

Standard library only, like ``oracle_program``.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING

from multilang_cli.verify.oracle_program import OracleError, OracleUnavailableError, parsed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from multilang_cli.catalogue.oracle import Case, Verdict

    Verdicts = dict[str, dict[str, Verdict]]
    """By case, then by version."""


def read_cases(files: Sequence[Path]) -> list[Case]:
    """All cases of `files`, each a JSON list of cases. Raises OracleError if two have the same name."""
    cases: list[Case] = [case for file in files for case in json.loads(file.read_text(encoding="utf-8"))]
    names = Counter(case["case"] for case in cases)
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise OracleError(f"two cases are called {twice[0]}")
    return cases


def choose(cases: list[Case], names: Sequence[str]) -> list[Case]:
    """The cases called `names`, or all. Raises UnavailableError if there is no such case."""
    known = {case["case"] for case in cases}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise OracleUnavailableError(f"there is no script {unknown[0]!r}")
    return [case for case in cases if not names or case["case"] in names]


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
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
