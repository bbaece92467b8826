"""``mlcheck host``."""

from pathlib import Path
from typing import Any

from multilang_cli.cli.options.component import CHOSEN, FAIL_FAST, RECORD_ALL, VERBOSE
from multilang_cli.cli.options.shared import COLOR, QUIET, REPORTS, STORM, STRICT
from multilang_cli.cli.options.table import OptionTable, argument, option, with_options

OPTIONS: OptionTable = {
    "command": argument(list[str], "COMMAND"),
    "storm": STORM,
    **CHOSEN,
    "fail_fast": FAIL_FAST,
    "jobs": option(int, "-j --jobs", "N", "Play N cases at once.", 1, least=1),
    "patience": option(float, "--patience", "FACTOR", "Every limit of the cases, times this.", 1.0, least=0.1),
    "strict": STRICT,
    "record": option(Path, "--record", "DIR", "For transcripts. Default: .mlcheck/last.", Path(".mlcheck/last")),
    "record_all": RECORD_ALL,
    "reports": REPORTS,
    "color": COLOR,
    "quiet": QUIET,
    "verbose": VERBOSE,
}


def _host(command: list[str], **given: Any) -> int:
    """Check a host: whatever plays Storm's side to spouts and bolts.

    COMMAND comes after --. It is started once a case, with the command of a scripted component after its own arguments;
    the variable MLCHECK_FEED names a JSON file that says what to tell that component (`mlcheck schema show feed`). It
    goes on until SIGTERM. `mlcheck docs host` has the whole contract.
    """
    from multilang_cli.suite.hosts.hosting import HostShowing, judge  # noqa: PLC0415 (slow to import, and not needed for --help)
    from multilang_cli.suite.hosts.suite import HostOptions  # noqa: PLC0415

    several = {name: tuple(given[name] or ()) for name in ("include", "exclude", "reports")}
    options = HostOptions(
        several["include"],
        several["exclude"],
        given["jobs"],
        strict=bool(given["strict"]),
        fail_fast=given["fail_fast"],
    )
    showing = HostShowing(several["reports"], given["color"], quiet=given["quiet"], verbose=given["verbose"])
    more = {name: given[name] for name in ("patience", "record_all")}
    return judge(tuple(command), given["storm"] or "", options, showing, given["record"], **more)


host = with_options(_host, OPTIONS)
