"""The options that replay, diff and shrink have in common."""

from __future__ import annotations

from typing import Annotated

import typer

Transcript = Annotated[list[str], typer.Argument(metavar="TRANSCRIPT", hidden=True)]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="WHAT",
        help="Not compared: a value by its field or place (FIELD, 0, STREAM.FIELD), or emits, settles, syncs, errors, "
        "malformed, exit, task-ids. Repeatable.",
    ),
]
Compare = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        metavar="WHAT",
        help="Compared besides: logs, metrics, ids (those a spout gives), order (of emits). Repeatable.",
    ),
]
Key = Annotated[
    list[str] | None,
    typer.Option(
        "--key", metavar="FIELD", help="Emits with the same FIELD are the same, changed or not. FIELD as in --ignore."
    ),
]
