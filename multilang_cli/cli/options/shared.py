"""Options of commands that have little else in common."""

from multilang_cli.cli.options.table import OptionTable, Panel, argument, flag, option, text, texts

COMMAND = argument(list[str] | None, "COMMAND", None)
TRANSCRIPT = argument(list[str], "TRANSCRIPT")
COLOR = text("--color", "auto|always|never", "When to colour; NO_COLOR is heeded.")
STORM = text("--storm", "VERSION", "The Storm version: 2.8.3, 1.2, ... Default: the newest.", panel=Panel.TOLD)
RECORDED_STORM = text("--storm", "VERSION", "Judge for this version. Default: the recorded one.", panel=Panel.TOLD)
STRICT = option(bool | None, "--strict/--no-strict", None, "Warnings count as failures (exit 1).")
REPORTS = texts(
    "--report", "FORMAT=PATH", "pretty, json, junit, github, markdown, sarif or html; - is stdout. May be repeated."
)
JSON = flag("--json", "Print JSON; `mlcheck docs json` has its keys.")
QUIET = flag("-q --quiet", "Print only the summary.")
COMPARING: OptionTable = {
    "ignore": texts(
        "--ignore",
        "WHAT",
        "Not compared: a value by its field or place (FIELD, 0, STREAM.FIELD), or emits, settles, syncs, errors, "
        "malformed, exit, task-ids. Repeatable.",
    ),
    "comparing": texts(
        "--compare", "WHAT", "Compared besides: logs, metrics, ids (those a spout gives), order (of emits). Repeatable."
    ),
    "key": texts("--key", "FIELD", "Emits with the same FIELD are the same, changed or not. FIELD as in --ignore."),
}
"""Of the commands that compare what a component said, then and now."""
SPARK: OptionTable = {
    "master": text(
        "--master", "URL", "Spark's master: local[4], spark://HOST:PORT or yarn.", "local[*]", panel=Panel.PLAYED
    ),
    "spark_conf": texts("--spark-conf", "K=V", "A setting of Spark's. May be repeated.", panel=Panel.PLAYED),
    "spark_log": flag("--spark-log", "Show what Spark logs.", panel=Panel.PLAYED),
}
"""Of all commands that start Spark."""
