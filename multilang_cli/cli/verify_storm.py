"""``mlcheck verify-storm``."""

from pathlib import Path

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, JSON
from multilang_cli.cli.options.table import OptionTable, argument, flag, option

MOST_JOBS = 64
OPTIONS: OptionTable = {
    "storm": argument(str, "VERSION"),
    "names": argument(list[str] | None, "CASE", None),
    "sampled": flag("--sample", "Only cases in which versions near this one differ, and a tenth."),
    "jobs": option(int, "-j --jobs", "N", "Play in N JVMs.", 2, least=1, most=MOST_JOBS),
    "out": option(Path | None, "--out", "FILE", "Write what Storm did, as JSON."),
    "write": flag("--write", "Record what differs in conformance/oracle. In a clone only."),
    "verbose": flag("-v --verbose", "Show what Storm did, now and before."),
    "as_json": JSON,
    "color": COLOR,
}


@handled_by("verify.asking:verify_given", options=OPTIONS)
def verify_storm() -> None:
    """Ask the real Storm VERSION what it does, and print what differs from what is recorded.

    VERSION: any published release from 0.9.3 on. One that was never recorded is compared with the nearest that was.
    CASE: names of scripts of conformance/oracle. Default: all, some two minutes. Needs Maven and a JDK of 17 to 23;
    the first use of a version fetches its artifacts. The exit code is 0 if nothing differs, 1 if something does.
    """
