"""Cases: what is said to a component and what must come back, as data (``conformance/cases``, ``schemas/case.schema.json``)."""

from __future__ import annotations

import fnmatch
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from multilang_cli.catalogue import locate
from multilang_cli.protocol.verdicts import Clause, Level


class CaseError(ValueError):
    """A case file that can't be used: the message names the file, the key path and the line where known."""


class SelectionError(ValueError):
    """Nothing is selected, or a pattern matches nothing: the message names the nearest id."""


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
    steps: tuple[tuple[str, dict[str, Any]], ...]
    since: str = ""
    needs: tuple[str, ...] = ()


def load_cases(suite: str = "component", extra: tuple[str, ...] = ()) -> list[Case]:
    """The shipped cases of `suite` and those in the files or folders of `extra`, sorted by id. Raises CaseError."""
    files = sorted(locate.data_path("conformance", "cases", suite).glob("*.yaml"))
    for name in extra:
        path = Path(name)
        found = sorted(path.glob("**/*.yaml")) if path.is_dir() else [path]
        if not found:
            raise CaseError(f"{name}: no case files (*.yaml) in this folder")
        files += found
    cases: dict[str, Case] = {}
    for file in files:
        case = read_case(file)
        if case.id in cases:
            raise CaseError(f"{file}: the id {case.id!r} stands twice")
        cases[case.id] = case
    return [cases[id_] for id_ in sorted(cases)]


def read_case(path: Path) -> Case:
    """Read one case file. Raises CaseError with the line or the key path."""
    try:
        plain = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CaseError(f"{path}: {error}") from None
    if not isinstance(plain, dict) or not isinstance(plain.get("steps"), list):
        raise CaseError(f"{path}: a case is a mapping with a list `steps`")
    try:
        return msgspec.convert({**plain, "steps": [_step(step) for step in plain["steps"]]}, Case)
    except (msgspec.ValidationError, TypeError) as error:
        raise CaseError(f"{path}: {error}") from None


def _step(step: object) -> tuple[str, dict[str, Any]]:
    if isinstance(step, str):
        return step, {}
    if isinstance(step, dict) and len(step) == 1:
        ((name, arguments),) = step.items()
        if isinstance(arguments, dict | None):
            return str(name), arguments or {}
    raise TypeError(f"a step is a name, or one name with a mapping of arguments, not {str(step)[:60]!r}")


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
