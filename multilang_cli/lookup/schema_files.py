"""A published JSON Schema: shown, and files held to it."""

from __future__ import annotations

import json

import msgspec

from multilang_cli.catalogue import schemas
from multilang_cli.subject.documents import DocumentError, documents
from multilang_cli.subject.outputs import write_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import write
from multilang_cli.transcript.secrets import declare


class SchemaFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck schema show``."""

    name: str


class ValidateFlags(SchemaFlags, frozen=True, kw_only=True):
    """Options of ``mlcheck schema validate``."""

    files: tuple[str, ...]
    as_json: bool = False


def schema_given(flags: SchemaFlags) -> int:
    """Print a schema. Raises CommandError."""
    write(json.dumps(schemas.load(_known(flags.name)), indent=2, ensure_ascii=False) + "\n")
    return ExitCode.CONFORMANT


def validate_given(flags: ValidateFlags) -> int:
    """Hold files to a schema. Raises CommandError."""
    name = _known(flags.name)
    wrong: list[dict[str, str]] = []
    for file in flags.files:
        try:
            for document in documents(file):
                declare([{"": document.value}])
                for breach in schemas.breaches(document.value, name):
                    wrong.append({"place": document.place(breach.pointer), "why": str(breach)})
                    if not flags.as_json:
                        write(f"{wrong[-1]['place']}: {breach}\n")
        except DocumentError as error:
            raise CommandError(f"schema validate: {error}") from None
    if flags.as_json:
        write_json(wrong)
    elif not wrong:
        write(f"{', '.join(flags.files)}: holds to {name}\n")
    return ExitCode.NOT_CONFORMANT if wrong else ExitCode.CONFORMANT


def _known(name: str) -> str:
    known = schemas.names()
    if name not in known:
        hint = did_you_mean(name, known)
        raise CommandError(f"there is no schema {name[:60]!r}{hint} `mlcheck schema list` shows all.")
    return name
