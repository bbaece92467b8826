"""A plan of faults as a file: what a search found, to be played again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.texts import TextError, file_text, json_value
from multilang_cli.topology.faults.plan import FaultError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "fault-plan.json"
SCHEMA = "fault-plan"
VERSION = "1.0"


class BrokenCheck(msgspec.Struct, frozen=True):
    """Something that did not hold in the plan's run: a checker or a task, and the reason."""

    id: str
    reason: str


class FaultPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan. `faults`: as ``--fault`` reads them; `seed`: of the run; `broke`: `times` of `runs` with it."""

    version: str = VERSION
    topology: str
    storm: str
    seed: int
    faults: tuple[str, ...]
    broke: tuple[BrokenCheck, ...] = ()
    times: int = 0
    runs: int = 0


def to_json(plan: FaultPlan) -> bytes:
    """The bytes of the file."""
    return msgspec.json.format(msgspec.json.encode(plan), indent=2) + b"\n"


def read_plan(path: Path) -> FaultPlan:
    """The plan in a file. Raises FaultError."""
    value: Any = None
    try:
        value = json_value(file_text(path), str(path))
        return msgspec.convert(value, FaultPlan)
    except OSError as error:
        raise FaultError(f"@{path}: it can't be read: {error.strerror}") from None
    except msgspec.ValidationError as error:
        raise FaultError(f"@{path}: no plan of faults: {'; '.join(schemas.explain(value, SCHEMA)) or error}") from None
    except (TextError, UnicodeDecodeError) as error:
        raise FaultError(f"no plan of faults, which is JSON: {error}") from None
