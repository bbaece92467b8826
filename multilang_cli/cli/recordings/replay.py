"""``mlcheck replay``."""

from multilang_cli.cli.options.component import LIMITS, RECORD, TOLD, WHICH
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, COMPARING, QUIET, REPORTS, TRANSCRIPT
from multilang_cli.cli.options.table import OptionTable, Panel, flag, text

PLAYED_TO: OptionTable = {
    "component": WHICH["component"],
    **{name: TOLD[name] for name in ("conf", "conf_files", "cwd", "env")},
    **LIMITS,
}
"""What is told of a component to which a recording is played: all else stands in that."""
OPTIONS: OptionTable = {
    "words": TRANSCRIPT,
    **PLAYED_TO,
    **COMPARING,
    "real_time": flag("--real-time", "At the recorded pace: nothing is sent before its time.", panel=Panel.PLAYED),
    "until": text("--until", "N|finding", "Stop behind event N of the recording, or at a breach now."),
    "then": text("--then", "repl", "repl: go on by hand where the replay stops."),
    "source": text("--source", "FILE", "With --then repl: do the commands in this file there.", panel=Panel.PLAYED),
    "no_input": flag(
        "--no-input", "With --then repl: show no prompt; commands come from --source or stdin.", panel=Panel.PLAYED
    ),
    "record": RECORD,
    "reports": REPORTS,
    "quiet": QUIET,
    "color": COLOR,
}


@handled_by(
    "replay.starting:replay_given",
    "repl.taking_over:take_over",
    options=OPTIONS,
    most_used=("ignore", "comparing", "key", "until", "then"),
)
def replay() -> None:
    """Play TRANSCRIPT to a component again, and say what it does otherwise: mlcheck replay TRANSCRIPT -- COMMAND.

    COMMAND: without one, the [[component]] of mlcheck.toml. What Storm said in the recording is said again, byte for
    byte, each message as soon as what was heard before it was heard again; only what must be of now is: the pid
    directory, task ids in answer to the emits of now, ids that a spout gives.

    Exit code 0: the same; 1: something differs, be it for the better.
    """
