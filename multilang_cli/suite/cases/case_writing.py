"""A case that was made by a program, written as people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from multilang_cli.reports.formats.registry import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.suite.cases.case import Case, Step


def write_case(case: Case, path: Path, *, private: bool = False) -> None:
    """Write a case to `path`, which is replaced. ``read_case`` gives it back. Raises OSError.

    `private`: its owner alone may read it.
    """
    # As ASCII: PyYAML reads some line separators otherwise than it writes them.
    text = yaml.safe_dump(document(case), sort_keys=False, width=110)
    write_whole(path, text.encode("ascii"), private=private)


def document(case: Case) -> dict[str, Any]:
    """A case as plain values (``schemas/case``); what is as usual is left out."""
    plain: dict[str, Any] = msgspec.to_builtins(case)
    kept = {name: value for name, value in plain.items() if value}
    return {**kept, "steps": [_step(step) for step in case.steps]}


def _step(step: Step) -> str | dict[str, dict[str, Any]]:
    name, arguments = step
    return {name: arguments} if arguments else name
