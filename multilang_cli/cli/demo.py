"""``mlcheck demo``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.table import OptionTable, flag

OPTIONS: OptionTable = {"no_input": flag("--no-input", "Do not wait for Enter between the steps.")}


@handled_by("demo.tour:tour_given", "cli.dispatch:dispatch", options=OPTIONS)
def demo() -> None:
    """Show in a minute what mlcheck does: a tour in a folder of its own, which is removed at the end.

    Each step is a command that you could type. On a terminal, Enter goes on. No other command waits for a key, but the
    REPL, which has --no-input too.
    """
