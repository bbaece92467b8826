"""A working component or testee, written where the command line says."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.scaffold.writing import (
    KINDS,
    NAMES,
    WORKFLOW,
    ScaffoldError,
    languages,
    write_component,
    write_testee,
)
from multilang_cli.subject.outputs import write_json
from multilang_cli.subject.testee import KNOWN_FAILURES
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import write

if TYPE_CHECKING:
    from multilang_cli.scaffold.writing import Language, Scaffold


class NewFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck new``. `kind`: of `KINDS`."""

    kind: str
    directory: str
    language: str | None = None
    as_json: bool = False


def new_given(flags: NewFlags) -> int:
    """Write the files, and say what comes next; returns the exit code. Raises CommandError."""
    kind, directory = flags.kind, flags.directory
    if kind not in KINDS:
        raise CommandError(f"new: there is no kind {kind[:60]!r}{did_you_mean(kind, KINDS)}")
    language, folder = _language(kind, flags.language), Path(directory)
    try:
        made = write_component(kind, language, folder) if kind in NAMES else write_testee(language, folder)
    except ScaffoldError as error:
        raise CommandError(f"new: {error}.") from None
    steps = [f"cd {shlex.quote(directory)}"] if folder.resolve() != Path.cwd() else []
    steps += [made.build] if made.build else []
    steps += ["mlcheck run" if kind in NAMES else "mlcheck run --testee ."]
    if flags.as_json:
        write_json({"files": [str(folder / file) for file in made.files], "next": steps})
    else:
        _tell(made, folder, steps)
    return ExitCode.CONFORMANT


def _language(kind: str, name: str | None) -> Language:
    """The language of that name in which there is such a thing. Raises CommandError."""
    known = {name: each for name, each in languages().items() if kind in NAMES or each.testee}
    listed = ", ".join(known)
    if name is None:
        raise CommandError(f"new: in which language? Say --language with one of {listed}.")
    if name.lower() not in known:
        hint = did_you_mean(name.lower(), known, ".")
        what = "language" if kind in NAMES else "testee in"
        other = "" if kind in NAMES else " For another, write it by hand: `mlcheck docs testees` has the contract."
        raise CommandError(f"new: there is no {what} {name[:60]!r}{hint} There are {listed}.{other}")
    return known[name.lower()]


def _tell(made: Scaffold, folder: Path, steps: list[str]) -> None:
    """Print the files, and what to do next."""
    write("".join(f"{folder / file}\n" for file in made.files))
    if made.library:
        lists = KNOWN_FAILURES.format("*")
        shipped = any(Path(file).match(lists) for file in made.files)
        rest = f",\nand delete {folder / lists}, which excuse what that one does wrong" if shipped else ""
        write(f"\nIt tests {made.library}: put your own library in its place{rest}.\n")
    if not (folder / ".git").exists():
        write(f"\nCI reads {WORKFLOW} at the top of a repository only.\n")
    write(f"\nNext: {' && '.join(steps)}\n")
