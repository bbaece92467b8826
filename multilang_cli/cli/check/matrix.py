"""``mlcheck matrix``."""

from multilang_cli.cli.options.component import CHOSEN, JOBS, LIMITS, PREPARE
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import JSON, STORM
from multilang_cli.cli.options.table import OptionTable, argument, flag, text

OPTIONS: OptionTable = {
    "folders": argument(list[str] | None, "FOLDER", None),
    "output": text("-o --output", "DIR", "Where everything goes."),
    "prepare": PREPARE,
    "brief": flag("--brief", "Only the table in markdown, the badges and the data: to keep beside sources."),
    "add": flag("--add", "Keep what DIR has of other libraries, and of other versions as a trend."),
    "storm": STORM,
    **CHOSEN,
    "jobs": JOBS,
    "timeout": LIMITS["timeout"],
    "as_json": JSON,
}


@handled_by("suite.matrix_run:matrix_given", options=OPTIONS, most_used=("output", "prepare", "include"))
def matrix() -> None:
    """Play every case against libraries: both suites with each testee, and the results side by side.

    FOLDER: testees, or folders of testees. Default: those that come with mlcheck.

    DIR gets index.html, a page and a transcript for each cell that is no pass, matrix.md, matrix.json, and a badge
    for each library. A failure that a testee's file of known failures explains is a failure here too, with its reason;
    but only a new one, or one that is gone, makes the exit code 1.
    """
