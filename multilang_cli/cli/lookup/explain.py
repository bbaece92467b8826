"""``mlcheck explain``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, JSON
from multilang_cli.cli.options.table import OptionTable, argument, text

OPTIONS: OptionTable = {
    "words": argument(list[str] | None, "RULE|CAUSE|CASE|SENTENCE|TEXT", None),
    "log": text("--log", "FILE", "Explain what a worker's log says of shell components; - for stdin.", ""),
    "as_json": JSON,
    "color": COLOR,
}


@handled_by("lookup.explaining:explain_given", options=OPTIONS)
def explain() -> None:
    """Explain a rule, a cause, a case, a sentence of the protocol, or what a worker's log says.

    RULE, CAUSE, CASE or SENTENCE: its id, such as ack-twice or bolt.ack.once; `mlcheck list rules`, `mlcheck list
    cases` and `mlcheck list protocol` show them all, reports name causes. TEXT: an error from a worker's log, pasted in
    quotes, with whatever stands around it, or some words of it.
    """
