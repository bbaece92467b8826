"""The options of a component and of a run of cases. Their texts are read by ``subject.flag_values``."""

from multilang_cli.cli.options.shared import STORM
from multilang_cli.cli.options.table import OptionTable, flag, text, texts

WHICH: OptionTable = {
    "component": text("--component", "NAME", "Only this [[component]] of mlcheck.toml, or this part of a --testee."),
    "kind": text("--kind", "bolt|spout|auto", "What it is. auto (the default) asks the component."),
    "storm": STORM,
}
"""The component, and who it talks to."""
STORMS: OptionTable = {
    "storm": text(
        "--storm",
        "VERSIONS",
        "The Storm version: 2.8.3, 1.2, ... Default: the newest. Several, each with a conversation of its own: "
        "1.2,2.8; all: every verified one.",
    ),
    "storm_required": text("--storm-required", "VERSIONS", "Those of --storm that decide the exit code: 2.5,2.8."),
}
"""The same where several Storm versions are played."""
TOLD: OptionTable = {
    "tuples": texts(
        "--tuple",
        "JSON",
        "A tuple it takes, such as '[\"a b\", 1]'; of another source than the first: 'clicks=[7]'. Repeatable.",
    ),
    "tuple_files": texts("--tuples", "FILE", "Tuples: an array a line, or one array of arrays."),
    "conf": texts("--conf", "K=V", "Storm's conf; V is JSON, else a string. Repeatable."),
    "conf_files": texts("--conf-file", "FILE", "The same from a file: JSON, TOML, else YAML."),
    "ackers": text("--ackers", "N", "Short for --conf topology.acker.executors=N."),
    "inputs": texts(
        "--input",
        "COMPONENT[:STREAM]:FIELD,...",
        "A stream that a bolt reads from, and its fields: lines:line,number or lines:late:line. Repeatable.",
    ),
    "streams": texts(
        "--stream",
        "NAME:FIELD,...",
        "An output stream and its fields, !direct at the end if it is direct: jobs:id,name!direct. Repeatable.",
    ),
    "cwd": text("--cwd", "DIR", "The working directory, as Storm's resources directory."),
    "env": texts(
        "--env",
        "NAME[=VALUE]",
        "A variable of the environment; NAME alone keeps what else is taken away: PYTHONUNBUFFERED. Repeatable.",
    ),
    "task": text("--task", "ID", "The task id. Default: 3."),
}
"""Its environment, and what it is told."""
PROMISED: OptionTable = {
    "settles": text(
        "--settles",
        "WHEN",
        "When it acks or fails a tuple: by-limit (the default), on-tick, on-next, after-N or unchecked.",
    ),
    "accepts": texts(
        "--accepts",
        "WHAT",
        "What it takes besides: ticks, text, large, integers, floats, null, nested, empty, arity. Repeatable.",
    ),
    "pid": text("--pid", "own|foreign", "foreign: behind a container, where pids differ."),
}
"""Its promises."""
LIMITS: OptionTable = {
    "limits": texts(
        "--limit",
        "NAME=SECONDS",
        "One limit: pid, sync, heartbeat, settle, read, output, exit-after-eof, exit-after-term, pid-file or "
        "grace; or frame, in bytes. Repeatable.",
    ),
    "timeout": text("--timeout", "SECONDS", "Every limit that --limit does not set. Default: as patient as Storm, 31."),
}
"""How long anything may take."""
CHOSEN: OptionTable = {
    "include": texts(
        "-k",
        "PATTERN",
        "Only these cases: an id, a dotted prefix, a glob, a rule; or @FILE with one a line. Repeatable.",
    ),
    "exclude": texts("--exclude", "PATTERN", "Not these cases; as -k. Repeatable."),
}
"""The cases that are played."""
FAIL_FAST = flag("-x", "Stop at the first failure.")
JOBS = text("-j --jobs", "N", "Play N cases at once, each with a process. Default: 1.")
MEMORY = text(
    "--memory",
    "SIZE",
    "What its processes may hold together: 512M, 2G, none. Default: half of the machine, parted among --jobs.",
)
PREPARE = flag(
    "--prepare/--no-prepare",
    "First run the commands that each testee.yaml names to install or build it. Not by default.",
)
RECORD = text("--record", "DIR", "For transcripts. Default: .mlcheck/last.")
RECORD_ALL = flag("--record-all", "Keep the transcripts of passing cases too.")
SEED = text("--seed", "N", "Where everything random comes from. Default: 0.")
VERBOSE = flag("-v --verbose", "Name each case on stderr as it begins.")
