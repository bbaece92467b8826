"""``mlcheck run``."""

from multilang_cli.cli.options import component as of
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, COMMAND, QUIET, REPORTS, STRICT
from multilang_cli.cli.options.table import OptionTable, Panel, flag, text, texts

OPTIONS: OptionTable = {
    "command": COMMAND,
    **of.WHICH,
    **of.STORMS,
    **of.TOLD,
    **of.PROMISED,
    "limits": of.LIMITS["limits"],
    "real_ticks": flag(
        "--real-ticks",
        "Send ticks as often as conf says (topology.tick.tuple.freq.secs), not each second.",
        panel=Panel.PROMISED,
    ),
    "exhaustive": flag(
        "--exhaustive", "Also play the cases that could only show the same hang again.", panel=Panel.CASES
    ),
    **of.CHOSEN,
    "fail_fast": of.FAIL_FAST,
    "max_fail": text("--max-fail", "N", "Stop at the Nth failure.", panel=Panel.PLAYED),
    "jobs": of.JOBS,
    "retries": text(
        "--retries", "N", "Play a case that fails up to N times again; if it passes: flaky.", panel=Panel.PLAYED
    ),
    "known_failures": text(
        "--known-failures", "FILE", "Cases that may fail, and by which rules; they still run.", panel=Panel.CASES
    ),
    "write_known_failures": text(
        "--write-known-failures", "FILE", "Write what fails in this run to that file.", panel=Panel.CASES
    ),
    "dry_run": flag(
        "--dry-run", "Start nothing: show the command, and the cases that would be played.", panel=Panel.CASES
    ),
    "timeout": of.LIMITS["timeout"],
    "memory": of.MEMORY,
    "strict": STRICT,
    "seed": of.SEED,
    "record": of.RECORD,
    "record_all": of.RECORD_ALL,
    "reports": REPORTS,
    "suites": texts("--suite", "PATH", "A file or directory with more cases. Repeatable.", panel=Panel.CASES),
    "testees": texts(
        "--testee", "DIR", "Test a library, by its testee in DIR (testee.yaml). Repeatable.", panel=Panel.COMPONENT
    ),
    "prepare": of.PREPARE,
    "color": COLOR,
    "quiet": QUIET,
    "verbose": flag("-v --verbose", "Show all that was found, case by case; name each case on stderr as it begins."),
}


@handled_by(
    "suite.checking:run_given", options=OPTIONS, most_used=("kind", "storm", "tuples", "streams", "include", "reports")
)
def run() -> None:
    """Check a spout or bolt: start it, talk to it as Storm does, judge what it answers.

    COMMAND: its file, or a command; if it has arguments, after --. Without one, every [[component]] of mlcheck.toml
    is checked; a report holds them all, and transcripts go to a directory for each.

    The suite starts the component dozens of times, and acks and fails what a spout emits: --dry-run shows it first.

    Flags win over the environment (MLCHECK_STORM, _STORM_REQUIRED, _JOBS, _TIMEOUT, _STRICT, _SEED, _RECORD, _COLOR),
    which wins over mlcheck.toml or [tool.mlcheck] of pyproject.toml, the first that is found upwards.
    """
