"""``mlcheck shrink``."""

from pathlib import Path

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import JSON, TRANSCRIPT
from multilang_cli.cli.options.table import OptionTable, Panel, flag, option, text
from multilang_cli.cli.recordings.replay import PLAYED_TO

OPTIONS: OptionTable = {
    "words": TRANSCRIPT,
    "output": option(Path, "-o --output", "FILE", "Where the shortest goes.", Path("small.ndjson")),
    "finding": text("--finding", "RULE|FINGERPRINT", "What it must still show. Default: the first must.", ""),
    "again": option(
        int, "--retries", "N", "Play what does not show it up to N times again.", 0, least=0, panel=Panel.PLAYED
    ),
    **PLAYED_TO,
    "quiet": flag("-q --quiet", "Do not show how far it is."),
    "as_json": JSON,
}


@handled_by("replay.shrink.shrinking:shrink_given", options=OPTIONS, most_used=("output", "finding"))
def shrink() -> None:
    """Make TRANSCRIPT as short as can be, so that COMMAND still breaks the same rule: mlcheck shrink T -- COMMAND.

    Tuples and commands are left out, with all that belongs to them, and what is left is played to a fresh process,
    again and again; then their values are made simpler. Ctrl-C keeps the shortest so far.
    """
