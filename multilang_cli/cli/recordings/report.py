"""``mlcheck report``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import RECORDED_STORM
from multilang_cli.cli.options.table import OptionTable, argument, option, text

_PAGE_EVENTS = 200_000
OPTIONS: OptionTable = {
    "transcripts": argument(list[str] | None, "TRANSCRIPT", None),
    "output": text("-o --output", "PATH", "The page; - is stdout. With --open, a directory."),
    "bundle": text("--bundle", "ZIP", "Pack transcripts, findings, page and environment for an issue."),
    "opened": text("--open", "ZIP", "Restore a bundle, and say what was found in it."),
    "storm": RECORDED_STORM,
    "events": option(int, "--events", "N", "Events on the page, at most.", _PAGE_EVENTS, least=1),
}


@handled_by("recordings.report:report_given", options=OPTIONS)
def report() -> None:
    """Make one HTML page of recorded conversations, to scroll, filter and pass on.

    TRANSCRIPT: files that `run`, `tap` or `repl` recorded, directories of them, or - for stdin. Several files may be
    the parts of one conversation. The findings are those of `mlcheck lint`. The page needs nothing but a browser.

    Of more than N events, the first, those around findings, and the last are on the page.
    """
