"""``mlcheck tap``."""

from pathlib import Path

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import STORM
from multilang_cli.cli.options.table import OptionTable, Panel, argument, flag, option, text
from multilang_cli.tap import plan

OPTIONS: OptionTable = {
    "command": argument(list[str], "COMMAND"),
    "record": text(
        "--record",
        "DIR",
        "For transcripts, log and status. Default: .mlcheck/tap. kafka://HOST:PORT/TOPIC: every message, there.",
        str(plan.FOLDER),
    ),
    "storm": STORM,
    "kind": text("--kind", "bolt|spout|auto", "What it is. auto (the default): Storm tells.", "auto", panel=Panel.TOLD),
    "ring": option(
        int | None, "--ring", "N", "Keep the last N messages, and write them at the end. Default: 1000.", least=1
    ),
    "record_all": flag("--record-all", "Write every message, as it passes."),
    "rotate": text("--rotate", "SIZE/AGE", "With --record-all: a new file after so much. Default: 64MiB."),
    "keep": option(int | None, "--keep", "N", "With --record-all: only the last N files.", least=1),
    "sample": option(float, "--sample", "P", "Record a conversation with probability P.", 1.0, least=0, most=1),
    "status": option(Path | None, "--status", "FILE", "How far it is, as JSON. Default: one in DIR."),
    "write_wrapper": option(
        Path | None, "--write-wrapper", "FILE", "Run nothing: write an executable that taps COMMAND."
    ),
    "verbose": flag("-v --verbose", "Findings go to stderr, too."),
}


@handled_by("tap.command:tap_given", options=OPTIONS, most_used=("record", "ring", "record_all", "write_wrapper"))
def tap() -> None:
    """Stand in a topology in place of COMMAND: pass everything on unchanged, record and judge it.

    COMMAND comes after --. The exit code is its own, 128 + n for signal n. Findings are lines of the log in DIR;
    `mlcheck lint` judges the transcripts again. Whatever happens to the recording, COMMAND does not notice.
    """
