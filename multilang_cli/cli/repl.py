"""``mlcheck repl``."""

from multilang_cli.cli.options.component import LIMITS, PROMISED, RECORD, SEED, TOLD, WHICH
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, COMMAND
from multilang_cli.cli.options.table import OptionTable, Panel, flag, text

OPTIONS: OptionTable = {
    "command": COMMAND,
    **WHICH,
    **TOLD,
    "settles": PROMISED["settles"],
    "pid": PROMISED["pid"],
    **LIMITS,
    "seed": SEED,
    "record": RECORD,
    "no_limits": flag(
        "--no-limits", "Wait for nothing in vain: for a component that stops in a debugger.", panel=Panel.PLAYED
    ),
    "source": text(
        "--source", "FILE", "Do the commands in this file first; without a terminal, only them.", panel=Panel.PLAYED
    ),
    "no_input": flag(
        "--no-input", "Show no prompt: do the commands of --source or stdin, and end.", panel=Panel.PLAYED
    ),
    "color": COLOR,
}


@handled_by("repl.starting:play_by_hand", options=OPTIONS, most_used=("kind", "storm", "tuples", "streams", "source"))
def repl() -> None:
    """Play Storm by hand: start a component, say what you like to it, see and judge what it says.

    COMMAND: its file, or a command; if it has arguments, after --. At the prompt, `help` shows what can be said.

    Without a terminal, commands come from stdin, one a line, each done when the component has answered the one before.
    """
