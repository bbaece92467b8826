"""Cases: what is said to a component and what must come back, as data (``conformance/cases``)."""

from __future__ import annotations

import fnmatch
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from multilang_cli.catalogue import locate
from multilang_cli.catalogue.loader import CatalogueError, problems
from multilang_cli.protocol.verdicts import Clause, Level


class CaseError(ValueError):
    """A case file that can't be used: the message names the file, the key path and the line where known."""


class SelectionError(ValueError):
    """Nothing is selected, or a pattern matches nothing: the message names the nearest id."""


Step = tuple[str, dict[str, Any]]
"""An operation and its arguments."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One case. `id` dotted and stable; `needs`: what must be known or seen for it to say anything.

    `steps`: operations in order, each a name and its arguments (``steps.OPERATIONS``).
    """

    id: str
    title: str
    kind: Literal["bolt", "spout", "both"]
    level: Level
    clause: Clause
    expected: str
    steps: tuple[Step, ...]
    since: str = ""
    needs: tuple[str, ...] = ()


def load_cases(suite: str = "component", extra: tuple[str, ...] = ()) -> list[Case]:
    """The shipped cases of `suite` and those in the files or folders of `extra`, sorted by id. Raises CaseError."""
    shipped = sorted(locate.data_path("conformance", "cases", suite).glob("*.yaml"))
    cases: dict[str, Case] = {}
    for file in [*shipped, *_files_of(extra)]:
        case = read_case(file, check=file not in shipped)
        if case.id in cases:
            raise CaseError(f"{file}: the id {case.id!r} stands twice")
        cases[case.id] = case
    return [cases[id_] for id_ in sorted(cases)]


def _files_of(names: tuple[str, ...]) -> list[Path]:
    files: list[Path] = []
    for name in names:
        path = Path(name)
        found = sorted(path.glob("**/*.yaml")) if path.is_dir() else [path]
        if not found:
            raise CaseError(f"{name}: no case files (*.yaml) in this folder")
        files += found
    return files


def read_case(path: Path, *, check: bool = True) -> Case:
    """Read one case file. `check` it against the schema, as is done with users' own. Raises CaseError."""
    try:
        if check and (wrong := problems(path, "case")):
            raise CaseError("\n".join(wrong))
        plain = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
        return msgspec.convert({**plain, "steps": [_step(step) for step in plain["steps"]]}, Case)
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror}") from None
    except CatalogueError as error:
        raise CaseError(str(error)) from None


def _step(step: str | dict[str, dict[str, Any] | None]) -> tuple[str, dict[str, Any]]:
    if isinstance(step, str):
        return step, {}
    ((name, arguments),) = step.items()
    return name, arguments or {}


def select(cases: list[Case], kind: str, include: tuple[str, ...], exclude: tuple[str, ...]) -> list[Case]:
    """The cases for a `kind` of component that match: by id, dotted prefix or glob. Raises SelectionError."""
    fitting = [case for case in cases if case.kind in {kind, "both"}]
    ids = [case.id for case in fitting]
    for pattern in (*include, *exclude):
        if not any(_matches(id_, pattern) for id_ in ids):
            near = get_close_matches(pattern, ids, n=1, cutoff=0.3)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise SelectionError(f"no {kind} case matches {pattern!r}{hint} (`mlcheck list cases` shows all)")
    chosen = [c for c in fitting if not include or any(_matches(c.id, pattern) for pattern in include)]
    chosen = [c for c in chosen if not any(_matches(c.id, pattern) for pattern in exclude)]
    if not chosen:
        raise SelectionError("the selection leaves no case to run")
    return chosen


def _matches(id_: str, pattern: str) -> bool:
    return id_ == pattern or id_.startswith(pattern + ".") or fnmatch.fnmatchcase(id_, pattern)
