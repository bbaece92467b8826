"""``mlcheck audit replay``."""

from pathlib import Path

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COMPARING, SPARK
from multilang_cli.cli.options.table import REQUIRED, OptionTable, Panel, argument, option, text

OPTIONS: OptionTable = {
    "words": argument(list[str], "INPUT"),
    "output": option(Path, "-o --output", "DIR", "Where the table goes, as Parquet.", REQUIRED),
    **COMPARING,
    "only": text("--component", "ID", "Only what this one was told.", panel=Panel.COMPONENT),
    "cwd": option(Path | None, "--cwd", "DIR", "Where the component is started.", panel=Panel.COMPONENT),
    **SPARK,
}


@handled_by("audit.console.replaying:replay_given", options=OPTIONS, most_used=("output", "ignore", "comparing", "key"))
def replay() -> None:
    """Play recordings to a new version of a component, on all executors, and compare: INPUT... -- COMMAND.

    INPUT: transcripts (.ndjson, .gz, .zst), folders of them, or URLs that Spark understands; COMMAND begins with the
    first word that is none of these. One process runs for each task of Spark's. Exit code 0: the same; 1: something
    differs.
    """
