"""``mlcheck explain``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color
from multilang_cli.cli.options.as_json import Json
from multilang_cli.cli.options.handled import handled_by

Log = Annotated[
    str,
    typer.Option("--log", metavar="FILE", help="Explain what a worker's log says of shell components; - for stdin."),
]


@handled_by("lookup.explaining:explain_given")
def explain(
    name: Annotated[str, typer.Argument(metavar="RULE|CAUSE|CASE|SENTENCE|TEXT", hidden=True)] = "",
    *,
    log: Log = "",
    as_json: Json = False,
    color: Color = None,
) -> None:
    """Explain a rule, a cause, a case, a sentence of the protocol, or what a worker's log says.

    RULE, CAUSE, CASE or SENTENCE: its id, such as ack-twice or bolt.ack.once; `mlcheck list rules`, `mlcheck list
    cases` and `mlcheck list protocol` show them all, reports name causes. TEXT: an error from a worker's log, pasted in
    quotes, with whatever stands around it.
    """
