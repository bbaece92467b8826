"""``mlcheck new``."""

from typing import Annotated

import typer

from multilang_cli.cli.options.as_json import Json
from multilang_cli.cli.options.handled import handled_by


@handled_by("scaffold.starting:new_given")
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
) -> None:
    """Write a small working bolt or spout, with mlcheck.toml, a CI workflow and a README.

    Or a testee, to test a library with; it begins with Storm's own library, or with one of ours. In Go, Java, Lua,
    Perl, PHP and Rust the protocol comes as a library in one file, to copy and change.

    DIRECTORY: where to; the working directory by default. It is made if it is missing. No file is overwritten.
    """
