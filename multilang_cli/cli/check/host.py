"""``mlcheck host``."""

from pathlib import Path

from multilang_cli.cli.options.component import CHOSEN, FAIL_FAST, RECORD_ALL, VERBOSE
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, QUIET, REPORTS, STORM, STRICT
from multilang_cli.cli.options.table import OptionTable, Panel, argument, option

OPTIONS: OptionTable = {
    "command": argument(list[str], "COMMAND"),
    "storm": STORM,
    **CHOSEN,
    "fail_fast": FAIL_FAST,
    "jobs": option(int, "-j --jobs", "N", "Play N cases at once.", 1, least=1, panel=Panel.PLAYED),
    "patience": option(float, "--patience", "FACTOR", "Every limit of the cases, times this.", 1.0, least=0.1),
    "strict": STRICT,
    "record": option(Path, "--record", "DIR", "For transcripts. Default: .mlcheck/last.", Path(".mlcheck/last")),
    "record_all": RECORD_ALL,
    "reports": REPORTS,
    "color": COLOR,
    "quiet": QUIET,
    "verbose": VERBOSE,
}


@handled_by("suite.hosts.hosting:host_given", options=OPTIONS, most_used=("include", "patience", "reports"))
def host() -> None:
    """Check a host: whatever plays Storm's side to spouts and bolts.

    COMMAND comes after --. It is started once a case, with the command of a scripted component after its own arguments;
    the variable MLCHECK_FEED names a JSON file that says what to tell that component (`mlcheck schema show feed`). It
    goes on until SIGTERM. `mlcheck docs host` has the whole contract.
    """
