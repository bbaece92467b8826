"""``mlcheck schema list|show|validate``."""

import json
from typing import Annotated

import typer

from multilang_cli.catalogue import schemas
from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import write

Name = Annotated[str, typer.Argument(metavar="NAME", hidden=True)]


def names(*, as_json: Json = False) -> int:
    """List the published JSON Schemas: name and title."""
    lines = [(name, str(schemas.load(name).get("title", ""))) for name in schemas.names()]
    if as_json:
        return print_json([{"name": name, "title": title} for name, title in lines])
    wide = max(len(name) for name, _ in lines)
    write("".join(f"{name:{wide}}  {title}".rstrip() + "\n" for name, title in lines))
    return ExitCode.CONFORMANT


def show(name: Name) -> int:
    """Print the schema NAME, such as messages/emit."""
    write(json.dumps(schemas.load(_known(name)), indent=2, ensure_ascii=False) + "\n")
    return ExitCode.CONFORMANT


def validate(
    name: Name, files: Annotated[list[str], typer.Argument(metavar="FILE", hidden=True)], *, as_json: Json = False
) -> int:
    """Check files against the schema NAME.

    FILE: .json, .yaml or .yml, .toml, or .ndjson or .jsonl with a JSON value a line; - is stdin, read like the last.
    Exit code 1 if a value does not hold to the schema, 2 if a file can't be read.
    """
    from multilang_cli.subject.documents import DocumentError, documents  # noqa: PLC0415 (slow to import)
    from multilang_cli.transcript.secrets import declare  # noqa: PLC0415 (slow to import)

    _known(name)
    wrong: list[dict[str, str]] = []
    for file in files:
        try:
            for document in documents(file):
                declare([{"": document.value}])
                for breach in schemas.breaches(document.value, name):
                    wrong.append({"place": document.place(breach.pointer), "why": str(breach)})
                    if not as_json:
                        write(f"{wrong[-1]['place']}: {breach}\n")
        except DocumentError as error:
            raise CommandError(f"schema validate: {error}") from None
    if as_json:
        print_json(wrong)
    elif not wrong:
        write(f"{', '.join(files)}: holds to {name}\n")
    return ExitCode.NOT_CONFORMANT if wrong else ExitCode.CONFORMANT


def _known(name: str) -> str:
    known = schemas.names()
    if name not in known:
        hint = did_you_mean(name, known)
        raise CommandError(f"there is no schema {name[:60]!r}{hint} `mlcheck schema list` shows all.")
    return name
