"""Options of commands that have little else in common."""

from multilang_cli.cli.options.table import argument, flag, option, text, texts

COMMAND = argument(list[str] | None, "COMMAND", None)
COLOR = text("--color", "auto|always|never", "When to colour; NO_COLOR is heeded.")
STORM = text("--storm", "VERSION", "The Storm version: 2.8.3, 1.2, ... Default: the newest.")
RECORDED_STORM = text("--storm", "VERSION", "Judge for this version. Default: the recorded one.")
STRICT = option(bool | None, "--strict/--no-strict", None, "Warnings count as failures (exit 1).")
REPORTS = texts(
    "--report", "FORMAT=PATH", "pretty, json, junit, github, markdown, sarif or html; - is stdout. May be repeated."
)
JSON = flag("--json", "Print JSON; `mlcheck docs json` has its keys.")
QUIET = flag("-q --quiet", "Print only the summary.")
