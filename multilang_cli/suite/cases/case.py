"""Cases: what is said to a component and what must come back, as data (``conformance/cases``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from multilang_cli.catalogue import locate
from multilang_cli.catalogue.loader import CatalogueError, plain, problems
from multilang_cli.catalogue.once import once
from multilang_cli.protocol.words.asked import TOLD, plan_of, spout_plan_of
from multilang_cli.protocol.words.messages import DEFAULT_STREAM
from multilang_cli.protocol.words.verdicts import Clause, Level
from multilang_cli.terminal.exits import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator


class CaseError(CommandError):
    """A case file that can't be used: the message names the file, the key path and the line where known."""


Need = Literal["streams", "direct", "schema"]
"""What a component's declaration must have: output streams, a direct one, a JSON Schema for the values of one."""

Step = tuple[str, dict[str, Any]]
"""An operation and its arguments."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """The worth of a case if the component refuses what was made up: dies of it, never settles it, never answers it.

    `verdict`: skip where nobody promised that it takes such, warn where it should. `of`: what it was given, for the
    reason. `unless`: the word in `accepts` by which a component promises to take it; then a refusal is a failure.
    """

    verdict: Literal["skip", "warn"]
    of: str
    unless: str = ""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One case. `id` dotted and stable; `since`: the first Storm version it holds for.

    `needs`: what must be declared for it to say anything; `accepts`: what the component must say that it takes. `env`:
    variables of the environment. `steps`: operations in order, each a name and its arguments (``steps.operations``).
    `unconsumed`: nobody consumes what the component emits, but for direct streams.
    `under`: the condition that it makes and a plain conversation does not, in words: "with a conf of 1 MiB".
    `loose`: one for which the component gives no occasion is passed over; in other cases it makes an end.
    `testee`: for which part of a library's testee it is, "" for any component; `supports`: what the library must do.
    """

    id: str
    title: str
    kind: Literal["bolt", "spout", "both"]
    level: Level
    clause: Clause | str
    expected: str
    steps: tuple[Step, ...]
    since: str = ""
    needs: tuple[Need, ...] = ()
    accepts: tuple[str, ...] = ()
    env: dict[str, str] = {}
    refusal: Refusal | None = None
    loose: bool = False
    unconsumed: bool = False
    under: str = ""
    testee: Literal["", "bolt", "basic", "batch", "spout"] = ""
    supports: tuple[str, ...] = ()

    @property
    def told_otherwise(self) -> bool:
        """True if the topology that it tells of is another: a join may wait there for what never comes."""
        return any(name == "handshake" and "context" in arguments for name, arguments in self.steps)

    @property
    def testee_streams(self) -> dict[str, frozenset[int]]:
        """Streams to be declared for a testee: those on which the case asks it to emit, with the tasks of direct emits.

        Also the default stream, and the one on which a testee tells what its user's code sees.
        """
        found: dict[str, set[int | None]] = {DEFAULT_STREAM: set(), TOLD: {None}}
        for action in self._actions():
            if action["do"] == "emit":
                stream, task = action.get("stream", DEFAULT_STREAM), action.get("task")
                found.setdefault(stream, set()).add(task if isinstance(task, int) else None)
        return {
            stream: frozenset(() if None in tasks else (task for task in tasks if task is not None))
            for stream, tasks in found.items()
        }

    def _actions(self) -> Iterator[dict[str, Any]]:
        for operation, arguments in self.steps:
            if operation == "plan":
                yield from plan_of([arguments["do"]]) or ()
            elif operation == "handshake":
                plan = spout_plan_of(arguments.get("conf", {})) or {}
                for lists in plan.values():
                    for each in lists:
                        yield from each if isinstance(each, list) else (each,)


@once
def shipped() -> frozenset[str]:
    """The ids of all shipped cases: those in which what we say has to be what a Storm says."""
    folder = locate.data_path("conformance", "cases")
    return frozenset(path.stem for suite in ("component", "library") for path in (folder / suite).glob("*.yaml"))


def load_cases(suite: str = "component", extra: tuple[str, ...] = ()) -> list[Case]:
    """The shipped cases of `suite`, the plain ones first, then those in the files or folders of `extra`.

    Raises CaseError.
    """
    ours = _ours(suite)
    cases = {case.id: case for case in ours}
    for file in _files_of(extra):
        case = read_case(file)
        if case.id in cases:
            raise CaseError(f"{file}: the id {case.id!r} stands twice")
        cases[case.id] = case
    return [*ours, *_in_order(list(cases.values())[len(ours) :], suite)]


@once
def _ours(suite: str) -> tuple[Case, ...]:
    files = locate.data_path("conformance", "cases", suite).glob("*.yaml")
    return tuple(_in_order([read_case(file, check=False) for file in files], suite))


def _in_order(cases: list[Case], suite: str) -> list[Case]:
    order = plain(locate.data_path("conformance", "cases", "order.yaml"))[suite]
    return sorted(cases, key=lambda case: (_rank(case.id, order), case.id))


def _rank(id_: str, order: list[str]) -> int:
    """The place of the longest prefix that fits, the last place if none does."""
    fitting = [prefix for prefix in order if id_ == prefix or id_.startswith(f"{prefix}.")]
    return order.index(max(fitting, key=len)) if fitting else len(order)


def _files_of(names: tuple[str, ...]) -> list[Path]:
    files: list[Path] = []
    for name in names:
        path = Path(name)
        found = sorted(filter(Path.is_file, path.glob("**/*.yaml"))) if path.is_dir() else [path]
        if not found:
            raise CaseError(f"{name}: no case files (*.yaml) in this folder")
        files += found
    return files


def read_case(path: Path, *, check: bool = True) -> Case:
    """Read one case file. `check` it against the schema, as is done with users' own. Raises CaseError."""
    try:
        if check and (wrong := problems(path, "case")):
            raise CaseError("\n".join(wrong))
        case = plain(path)
        return msgspec.convert({**case, "steps": [_step(step) for step in case["steps"]]}, Case)
    except CatalogueError as error:
        raise CaseError(str(error)) from None


def plain_case(case: Case) -> dict[str, Any]:
    """A case as it stands in its file; what is as usual is left out."""
    kept = {name: value for name, value in msgspec.to_builtins(case).items() if value}
    return {**kept, "steps": [{name: arguments} if arguments else name for name, arguments in case.steps]}


def _step(step: str | dict[str, dict[str, Any] | None]) -> tuple[str, dict[str, Any]]:
    if isinstance(step, str):
        return step, {}
    ((name, arguments),) = step.items()
    return name, arguments or {}
