"""``mlcheck new``."""

import shlex
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from multilang_cli.cli.exits import CommandError
from multilang_cli.cli.output import write
from multilang_cli.suite.nearest import did_you_mean
from multilang_cli.suite.scaffold import NAMES, WORKFLOW, ScaffoldError, languages, write_component


def new(
    kind: Annotated[str, typer.Argument(metavar="bolt|spout", hidden=True)],
    directory: Annotated[str, typer.Argument(metavar="DIRECTORY", hidden=True)] = ".",
    language: Annotated[
        str | None, typer.Option("--language", metavar="NAME", help="c, javascript, python or ruby.")
    ] = None,
) -> int:
    """Write a small working bolt or spout, with mlcheck.toml, a CI workflow and a README.

    DIRECTORY: where to; the working directory by default. It is made if it is missing. No file is overwritten.
    """
    if kind not in NAMES:
        raise CommandError(f"new: there is no kind {kind[:60]!r}{did_you_mean(kind, NAMES)}")
    known = languages()
    listed = ", ".join(known)
    if language is None:
        raise CommandError(f"new: in which language? Say --language with one of {listed}.")
    if language.lower() not in known:
        near = get_close_matches(language.lower(), known, n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise CommandError(f"new: there is no language {language[:60]!r}{hint} There are {listed}.")
    folder = Path(directory)
    try:
        made = write_component(cast("Literal['bolt', 'spout']", kind), known[language.lower()], folder)
    except ScaffoldError as error:
        raise CommandError(f"new: {error}.") from None
    steps = [f"cd {shlex.quote(directory)}"] if folder.resolve() != Path.cwd() else []
    steps += [made.build] if made.build else []
    write("".join(f"{folder / file}\n" for file in made.files))
    if not (folder / ".git").exists():
        write(f"\nCI reads {WORKFLOW} at the top of a repository only.\n")
    write(f"\nNext: {' && '.join([*steps, 'mlcheck run'])}\n")
    return 0
