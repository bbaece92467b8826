"""The options of a component and of a run of cases. Their texts are read by ``subject.flag_values``."""

from multilang_cli.cli.options.shared import STORM
from multilang_cli.cli.options.table import OptionTable, Panel, flag, text, texts

WHICH: OptionTable = {
    "component": text(
        "--component",
        "NAME",
        "Only this [[component]] of mlcheck.toml, or this part of a --testee.",
        panel=Panel.COMPONENT,
    ),
    "kind": text("--kind", "bolt|spout|auto", "What it is. auto (the default) asks the component.", panel=Panel.TOLD),
    "storm": STORM,
}
"""The component, and who it talks to."""
STORMS: OptionTable = {
    "storm": text(
        "--storm",
        "VERSIONS",
        "The Storm version: 2.8.3, 1.2, ... Default: the newest. Several, each with a conversation of its own: "
        "1.2,2.8; all: every verified one.",
        panel=Panel.TOLD,
    ),
    "storm_required": text(
        "--storm-required", "VERSIONS", "Those of --storm that decide the exit code: 2.5,2.8.", panel=Panel.PLAYED
    ),
}
"""The same where several Storm versions are played."""
TOLD: OptionTable = {
    "tuples": texts(
        "--tuple",
        "JSON",
        "A tuple it takes, such as '[\"a b\", 1]'; of another source than the first: 'clicks=[7]'. Repeatable.",
    ),
    "tuple_files": texts("--tuples", "FILE", "Tuples: an array a line, or one array of arrays.", panel=Panel.TOLD),
    "conf": texts("--conf", "K=V", "Storm's conf; V is JSON, else a string. Repeatable.", panel=Panel.TOLD),
    "conf_files": texts("--conf-file", "FILE", "The same from a file: JSON, TOML, else YAML.", panel=Panel.TOLD),
    "ackers": text("--ackers", "N", "Short for --conf topology.acker.executors=N.", panel=Panel.TOLD),
    "inputs": texts(
        "--input",
        "COMPONENT[:STREAM]:FIELD,...",
        "A stream that a bolt reads from, and its fields: lines:line,number or lines:late:line. Repeatable.",
        panel=Panel.TOLD,
    ),
    "streams": texts(
        "--stream",
        "NAME:FIELD,...",
        "An output stream and its fields, !direct at the end if it is direct: jobs:id,name!direct. Repeatable.",
        panel=Panel.TOLD,
    ),
    "cwd": text("--cwd", "DIR", "The working directory, as Storm's resources directory.", panel=Panel.COMPONENT),
    "env": texts(
        "--env",
        "NAME[=VALUE]",
        "A variable of the environment; NAME alone keeps what else is taken away: PYTHONUNBUFFERED. Repeatable.",
        panel=Panel.COMPONENT,
    ),
    "task": text("--task", "ID", "The task id. Default: 3.", panel=Panel.COMPONENT),
}
"""Its environment, and what it is told."""
PROMISED: OptionTable = {
    "settles": text(
        "--settles",
        "WHEN",
        "When it acks or fails a tuple: by-limit (the default), on-tick, on-next, after-N or unchecked.",
        panel=Panel.PROMISED,
    ),
    "accepts": texts(
        "--accepts",
        "WHAT",
        "What it takes besides: ticks, text, large, integers, floats, null, nested, empty, arity. Repeatable.",
        panel=Panel.PROMISED,
    ),
    "pid": text("--pid", "own|foreign", "foreign: behind a container, where pids differ.", panel=Panel.COMPONENT),
}
"""Its promises."""
LIMITS: OptionTable = {
    "limits": texts(
        "--limit",
        "NAME=SECONDS",
        "One limit: pid, sync, heartbeat, settle, read, output, exit-after-eof, exit-after-term, pid-file or "
        "grace; or frame, in bytes. Repeatable.",
        panel=Panel.PLAYED,
    ),
    "timeout": text(
        "--timeout",
        "SECONDS",
        "Every limit that --limit does not set. Default: as patient as Storm, 31.",
        panel=Panel.PLAYED,
    ),
}
"""How long anything may take."""
CHOSEN: OptionTable = {
    "include": texts(
        "-k",
        "PATTERN",
        "Only these cases: an id, a dotted prefix, a glob, a rule; or @FILE with one a line. Repeatable.",
    ),
    "exclude": texts("--exclude", "PATTERN", "Not these cases; as -k. Repeatable.", panel=Panel.CASES),
}
"""The cases that are played."""
FAIL_FAST = flag("-x", "Stop at the first failure.", panel=Panel.PLAYED)
JOBS = text("-j --jobs", "N", "Play N cases at once, each with a process. Default: 1.", panel=Panel.PLAYED)
MEMORY = text(
    "--memory",
    "SIZE",
    "What its processes may hold together: 512M, 2G, none. Default: half of the machine, parted among --jobs.",
    panel=Panel.PLAYED,
)
PREPARE = flag(
    "--prepare/--no-prepare",
    "First run the commands that each testee.yaml names to install or build it. Not by default.",
    panel=Panel.COMPONENT,
)
RECORD = text("--record", "DIR", "For transcripts. Default: .mlcheck/last.")
RECORD_ALL = flag("--record-all", "Keep the transcripts of passing cases too.")
SEED = text("--seed", "N", "Where everything random comes from. Default: 0.", panel=Panel.PLAYED)
VERBOSE = flag("-v --verbose", "Name each case on stderr as it begins.")
