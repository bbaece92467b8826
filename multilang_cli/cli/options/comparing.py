"""The options of the commands that compare what a component said, then and now."""

from multilang_cli.cli.options.table import OptionTable, argument, texts

TRANSCRIPT = argument(list[str], "TRANSCRIPT")
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
