"""``mlcheck lint``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, RECORDED_STORM, REPORTS, STRICT
from multilang_cli.cli.options.table import OptionTable, argument, flag

OPTIONS: OptionTable = {
    "transcripts": argument(list[str], "TRANSCRIPT"),
    "storm": RECORDED_STORM,
    "strict": STRICT,
    "coverage": flag("--coverage", "Say which rules and clauses the recordings exercised, and which never."),
    "verbose": flag("-v --verbose", "Show each finding of each conversation, not the cause alone."),
    "open_ended": flag("--open-ended", "Take a missing end, as of a tap that still runs."),
    "report": REPORTS,
    "color": COLOR,
}


@handled_by("recordings.lint:lint_given", options=OPTIONS)
def lint() -> None:
    """Judge recorded conversations.

    TRANSCRIPT: files that `run`, `tap` or `repl` recorded, directories of them, or - for stdin. Several files may be
    the parts of one conversation; gzip is read as well. The findings are those that the recording run gave; --storm
    judges for another version.
    """
