"""``mlcheck new``."""

import shlex
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.scaffold.writing import (
    KINDS,
    NAMES,
    WORKFLOW,
    ScaffoldError,
    languages,
    write_component,
    write_testee,
)
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import write


def new(
    kind: Annotated[str, typer.Argument(metavar="testee|bolt|spout", hidden=True)],
    directory: Annotated[str, typer.Argument(metavar="DIRECTORY", hidden=True)] = ".",
    language: Annotated[
        str | None,
        typer.Option(
            "--language", metavar="NAME", help="c, go, java, javascript, lua, perl, php, python, ruby or rust."
        ),
    ] = None,
    *,
    as_json: Json = False,
) -> int:
    """Write a small working bolt or spout, with mlcheck.toml, a CI workflow and a README.

    Or a testee, to test a library with; it begins with Storm's own library, or with one of ours. In Go, Java, Lua,
    Perl, PHP and Rust the protocol comes as a library in one file, to copy and change.

    DIRECTORY: where to; the working directory by default. It is made if it is missing. No file is overwritten.
    """
    if kind not in KINDS:
        raise CommandError(f"new: there is no kind {kind[:60]!r}{did_you_mean(kind, KINDS)}")
    known = {name: each for name, each in languages().items() if kind in NAMES or each.testee}
    listed = ", ".join(known)
    if language is None:
        raise CommandError(f"new: in which language? Say --language with one of {listed}.")
    if language.lower() not in known:
        near = get_close_matches(language.lower(), known, n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        what = "language" if kind in NAMES else "testee in"
        raise CommandError(f"new: there is no {what} {language[:60]!r}{hint} There are {listed}.")
    folder = Path(directory)
    try:
        chosen = known[language.lower()]
        if kind in NAMES:
            made = write_component(cast("Literal['bolt', 'spout']", kind), chosen, folder)
        else:
            made = write_testee(chosen, folder)
    except ScaffoldError as error:
        raise CommandError(f"new: {error}.") from None
    steps = [f"cd {shlex.quote(directory)}"] if folder.resolve() != Path.cwd() else []
    steps += [made.build] if made.build else []
    steps += ["mlcheck run" if kind in NAMES else "mlcheck run --testee ."]
    if as_json:
        return print_json({"files": [str(folder / file) for file in made.files], "next": steps})
    write("".join(f"{folder / file}\n" for file in made.files))
    if made.library:
        write(f"\nIt tests {made.library}: put your own library in its place.\n")
    if not (folder / ".git").exists():
        write(f"\nCI reads {WORKFLOW} at the top of a repository only.\n")
    write(f"\nNext: {' && '.join(steps)}\n")
    return 0
