"""``mlcheck audit run``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, REPORTS, SPARK, STORM
from multilang_cli.cli.options.table import REQUIRED, OptionTable, argument, flag, option, text

OPTIONS: OptionTable = {
    "inputs": argument(list[str], "INPUT"),
    "output": option(str, "-o --output", "DIR", "Where the tables go: a folder or a URL.", REQUIRED),
    "overwrite": flag("--overwrite", "Replace tables that are there already."),
    "table_format": text("--format", "parquet|delta", "Of the tables; parquet unless they are delta."),
    "storm": STORM,
    **SPARK,
    "report": REPORTS,
    "color": COLOR,
}


@handled_by("audit.console.auditing:audit_given", options=OPTIONS, most_used=("output", "report"))
def run() -> None:
    """Say what became of every tuple, from recordings of taps, on Spark.

    INPUT: transcripts, folders of them, patterns, or URLs that Spark understands; .gz and .zst are read as well. Each
    stage is a table in Parquet below DIR (mlcheck docs audit). The limits of [audit] in mlcheck.toml decide the exit
    code.
    """
