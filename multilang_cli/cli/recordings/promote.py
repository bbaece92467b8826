"""``mlcheck promote``."""

from pathlib import Path

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import JSON
from multilang_cli.cli.options.table import OptionTable, argument, option, text

OPTIONS: OptionTable = {
    "transcript": argument(str, "TRANSCRIPT"),
    "finding": text("--finding", "RULE|FINGERPRINT", "What the case is about. [the first must]", ""),
    "output": option(Path | None, "-o --output", "FILE", "The case file; its name is the id. [KIND.RULE.yaml]"),
    "as_json": JSON,
}


@handled_by("replay.saving:promote_given", options=OPTIONS)
def promote() -> None:
    """Make a conformance case of a recording: what was said in it, and the clause of what was found wrong.

    The case goes with `mlcheck run --suite FILE`: it fails until that is mended. `mlcheck shrink` makes a long
    recording short first.
    """
