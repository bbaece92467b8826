"""``mlcheck diff``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, COMPARING, QUIET, REPORTS
from multilang_cli.cli.options.table import OptionTable, argument

OPTIONS: OptionTable = {
    "then": argument(str, "A"),
    "now": argument(str, "B"),
    **COMPARING,
    "report": REPORTS,
    "quiet": QUIET,
    "color": COLOR,
}


@handled_by("replay.diffing:diff_given", options=OPTIONS)
def diff() -> None:
    """Compare two recorded conversations of the same input: A as it was, B as it is.

    Messages are matched by what they say and which tuples they answer, whatever ids these had. Order counts only where
    the protocol fixes it; `--compare order` has it count for emits.
    """
