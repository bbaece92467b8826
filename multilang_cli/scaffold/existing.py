"""mlcheck.toml for existing components."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.texts import TextError
from multilang_cli.reports.counting import counted
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.scaffold import streamparse
from multilang_cli.scaffold.config_file import components_beside, config_text
from multilang_cli.scaffold.places import beside_its_program, folders_of_flux_files, folders_of_programs
from multilang_cli.subject.outputs import write_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import write

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.subject.options import Component

FLUX = (".yaml", ".yml")
_COMPONENTS = re.compile(rb"^(spouts|bolts):", re.MULTILINE)
_LOOKED_AT = 1 << 20
"""Bytes in which a Flux file names its spouts or bolts."""


class InitFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck init``. `output`: the file that is written, - for stdout."""

    source: str
    output: str
    as_json: bool = False


def init_given(flags: InitFlags, components_of_flux: Callable[[str], tuple[Component, ...]]) -> int:
    """Write the file for what stands in the source; returns the exit code. Raises CommandError.

    `components_of_flux`: reads the components of a Flux file.
    """
    output, as_json = flags.output, flags.as_json
    if output != "-" and os.path.lexists(output):
        raise CommandError(
            f"init: {output} is there already, and nothing is overwritten; --output - shows what it would be."
        )
    if output == "-" and as_json:
        raise CommandError("init: --output - prints the file, --json what was written; leave out one of them.")
    components, origin = _found(Path(flags.source), components_of_flux)
    if not components:
        raise CommandError(f"init: no shell component was found in {origin}.")
    home = Path() if output == "-" else Path(output).parent
    text = config_text([_from_here(each, home) for each in components], origin)
    if output == "-":
        write(text)
        return ExitCode.CONFORMANT
    try:
        write_whole(Path(output), text.encode())
    except OSError as error:
        raise CommandError(f"init: {output} can't be written: {error.strerror}.") from None
    names = [each.name for each in components]
    if as_json:
        write_json({"output": output, "origin": origin, "components": names})
        return ExitCode.CONFORMANT
    write(f"{output}: {counted(len(names), 'component')}: {', '.join(names)}\n")
    runner = streamparse.RUNNER
    if any(each.command[0] == runner for each in components) and shutil.which(runner) is None:
        write(f"{runner} is not on PATH: activate the virtual environment that has streamparse, before mlcheck run\n")
    write("\nNext: mlcheck run --dry-run; then a tuple of each source as `samples`, and mlcheck run\n")
    return ExitCode.CONFORMANT


def _found(path: Path, components_of_flux: Callable[[str], tuple[Component, ...]]) -> tuple[tuple[Component, ...], str]:
    """The components, and what they were read from in words. Raises CommandError."""
    try:
        if streamparse.is_project(path):
            return streamparse.components_in(path), "a streamparse project"
        if path.is_dir():
            path = next(filter(None, map(_flux_in, folders_of_flux_files(path))), path)
        if path.suffix in FLUX and path.is_file():
            found = tuple(beside_its_program(each, path) for each in components_of_flux(str(path)))
            return found, f"the Flux file {path.name}"
        if path.is_dir():
            inner = next((each for each in folders_of_programs(path) if components_beside(each)), path)
            return components_beside(inner), f"the folder {inner.resolve().name}"
    except OSError as error:
        raise CommandError(f"init: {error.filename} can't be read: {error.strerror}.") from None
    except TextError as error:
        raise CommandError(f"init: {error}.") from None
    except SyntaxError as error:
        raise CommandError(f"init: {error.filename}:{error.lineno}: this is not Python 3: {error.msg}.") from None
    raise CommandError(f"init: {path} is neither a Flux file (.yaml) nor a folder.")


def _flux_in(folder: Path) -> Path | None:
    """The Flux file that lies in a folder; None if there is none. Raises CommandError if there are several."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.suffix in FLUX and path.is_file():
            with path.open("rb") as file:
                found += [path] if _COMPONENTS.search(file.read(_LOOKED_AT)) else []
    if len(found) > 1:
        names = ", ".join(map(str, found))
        raise CommandError(f"init: there are several Flux files: {names}; name one, or the folder of the programs.")
    return found[0] if found else None


def _from_here(component: Component, home: Path) -> Component:
    """The component with its directory as seen from where the file is written."""
    if component.cwd is None:
        return component
    cwd = os.path.relpath(component.cwd, home)
    return msgspec.structs.replace(component, cwd=None if cwd == "." else cwd)
