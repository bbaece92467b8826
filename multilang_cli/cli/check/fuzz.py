"""``mlcheck fuzz``."""

from multilang_cli.cli.options.component import LIMITS, MEMORY, PROMISED, RECORD, TOLD, WHICH
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, COMMAND, QUIET, REPORTS, STRICT
from multilang_cli.cli.options.table import OptionTable, Panel, option, text

OPTIONS: OptionTable = {
    "command": COMMAND,
    "conversations": option(int, "--conversations", "N", "How many, if nothing is found.", 300, least=1),
    "max_time": option(float, "--max-time", "SECONDS", "For everything, also to shrink a find.", 120.0, least=0.1),
    "seed": text(
        "--seed", "N", "Where conversations come from; told in the report. Default: a new one.", panel=Panel.PLAYED
    ),
    "save_case": text("--save-case", "FILE", "Write what was found as a case, for --suite."),
    "database": text("--database", "DIR", "Where finds are kept, to be tried first.", ".mlcheck/fuzz"),
    **WHICH,
    **TOLD,
    **PROMISED,
    **LIMITS,
    "memory": MEMORY,
    "strict": STRICT,
    "record": RECORD,
    "reports": REPORTS,
    "color": COLOR,
    "quiet": QUIET,
}


@handled_by(
    "fuzz.fuzzing:fuzz_given", options=OPTIONS, most_used=("conversations", "max_time", "save_case", "kind", "tuples")
)
def fuzz() -> None:
    """Search for a conversation in which a component does something wrong, and make it as small as can be.

    COMMAND: its file, or a command; if it has arguments, after --. Tuples are the samples, and what it accepts;
    heartbeats, ticks if it takes them, late task ids, messages cut anywhere, ends at any time. A spout's tuples are
    acked and failed, real ones too.
    """
