"""``mlcheck init``."""

import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from multilang_cli.catalogue.texts import TextError
from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.scaffold import streamparse
from multilang_cli.scaffold.config_file import components_beside, config_text
from multilang_cli.subject.config import NAME
from multilang_cli.subject.options import Component
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.output import write
from multilang_cli.topology.declaring import components_of

FLUX = (".yaml", ".yml")


def init(
    source: Annotated[str, typer.Argument(metavar="SOURCE", hidden=True)] = ".",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where it is written; - is stdout.")
    ] = NAME,
    *,
    as_json: Json = False,
) -> int:
    """Write mlcheck.toml for components that there are already: names, commands, inputs, groupings, outputs.

    SOURCE: a Flux file, the folder of a streamparse project (with topologies/), or a folder of programs, such as
    Storm's resources; the working directory by default. Nothing is started, and no file is overwritten.
    """
    if output != "-" and os.path.lexists(output):
        raise CommandError(
            f"init: {output} is there already, and nothing is overwritten; --output - shows what it would be."
        )
    if output == "-" and as_json:
        raise CommandError("init: --output - prints the file, --json what was written; leave out one of them.")
    path = Path(source)
    components, origin = _found(path)
    if not components:
        raise CommandError(f"init: no shell component was found in {origin}.")
    home = Path() if output == "-" else Path(output).parent
    text = config_text([_from_here(each, home) for each in components], origin)
    if output == "-":
        write(text)
        return 0
    try:
        write_whole(Path(output), text.encode())
    except OSError as error:
        raise CommandError(f"init: {output} can't be written: {error.strerror}.") from None
    if as_json:
        return print_json({"output": output, "origin": origin, "components": [each.name for each in components]})
    names = ", ".join(each.name for each in components)
    write(f"{output}: {len(components)} component{'s' if len(components) > 1 else ''}: {names}\n")
    write("\nNext: mlcheck run --dry-run; then a tuple of each source as `samples`, and mlcheck run\n")
    return 0


def _found(path: Path) -> tuple[tuple[Component, ...], str]:
    """The components, and what they were read from in words. Raises CommandError."""
    from multilang_cli.topology.console.flux_file import read_file  # noqa: PLC0415 (slow to import, not needed for --help)

    try:
        if path.suffix in FLUX and path.is_file():
            return components_of(read_file(str(path), "").topology), f"the Flux file {path.name}"
        if (path / "topologies").is_dir():
            return streamparse.components_in(path), "a streamparse project"
        if path.is_dir():
            inner = path / "resources" if (path / "resources").is_dir() else path
            return components_beside(inner), f"the folder {inner.resolve().name}"
    except OSError as error:
        raise CommandError(f"init: {error.filename} can't be read: {error.strerror}.") from None
    except TextError as error:
        raise CommandError(f"init: {error}.") from None
    except SyntaxError as error:
        raise CommandError(f"init: {error.filename}:{error.lineno}: this is not Python 3: {error.msg}.") from None
    raise CommandError(f"init: {path} is neither a Flux file (.yaml) nor a folder.")


def _from_here(component: Component, home: Path) -> Component:
    """The component with its directory as seen from where the file is written."""
    if component.cwd is None:
        return component
    cwd = os.path.relpath(component.cwd, home)
    return msgspec.structs.replace(component, cwd=None if cwd == "." else cwd)
