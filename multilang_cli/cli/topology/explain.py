"""``mlcheck topology explain``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, JSON
from multilang_cli.cli.options.table import OptionTable, argument, option

OPTIONS: OptionTable = {
    "run": argument(str | None, "[DIR]", None, told="The folder of a run. Without: the worked example."),
    "emission": option(
        int | None,
        "--emission",
        "N",
        "The emission to follow, by its number in the history. Default: the first that was not acked.",
        least=1,
    ),
    "as_json": JSON,
    "color": COLOR,
}


@handled_by("topology.console.explaining:acking_given", options=OPTIONS)
def explain() -> None:
    """Show the ack framework step by step: edges, XOR, and what the acker holds.

    Without DIR it is the worked example of its descriptions, with ids of four bits.
    """
