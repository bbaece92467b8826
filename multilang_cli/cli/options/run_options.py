"""The options of ``mlcheck run``: spelling, metavar and help. Their texts are read by ``subject.flag_values``."""

from typing import Annotated

import typer

Text = str | None
Texts = list[str] | None

Component = Annotated[
    Text,
    typer.Option(
        "--component", metavar="NAME", help="Only this [[component]] of mlcheck.toml, or this part of a --testee."
    ),
]
Kind = Annotated[
    Text, typer.Option("--kind", metavar="bolt|spout|auto", help="What it is. auto (the default) asks the component.")
]
Storm = Annotated[
    Text,
    typer.Option(
        "--storm",
        metavar="VERSIONS",
        help="The Storm version: 2.8.3, 1.2, ... Default: the newest. Several, each with a conversation of its own: "
        "1.2,2.8; all: every verified one.",
    ),
]
StormRequired = Annotated[
    Text,
    typer.Option("--storm-required", metavar="VERSIONS", help="Those of --storm that decide the exit code: 2.5,2.8."),
]
Tuples = Annotated[
    Texts,
    typer.Option(
        "--tuple",
        metavar="JSON",
        help="A tuple it takes, such as '[\"a b\", 1]'; of another source than the first: 'clicks=[7]'. Repeatable.",
    ),
]
TupleFiles = Annotated[
    Texts, typer.Option("--tuples", metavar="FILE", help="Tuples: an array a line, or one array of arrays.")
]
Conf = Annotated[
    Texts, typer.Option("--conf", metavar="K=V", help="Storm's conf; V is JSON, else a string. Repeatable.")
]
ConfFiles = Annotated[
    Texts, typer.Option("--conf-file", metavar="FILE", help="The same from a file: JSON, TOML, else YAML.")
]
Ackers = Annotated[Text, typer.Option("--ackers", metavar="N", help="Short for --conf topology.acker.executors=N.")]
Inputs = Annotated[
    Texts,
    typer.Option(
        "--input",
        metavar="COMPONENT[:STREAM]:FIELD,...",
        help="A stream that a bolt reads from, and its fields: lines:line,number or lines:late:line. Repeatable.",
    ),
]
Streams = Annotated[
    Texts,
    typer.Option(
        "--stream",
        metavar="NAME:FIELD,...",
        help="An output stream and its fields, !direct at the end if it is direct: jobs:id,name!direct. Repeatable.",
    ),
]
Cwd = Annotated[
    Text, typer.Option("--cwd", metavar="DIR", help="The working directory, as Storm's resources directory.")
]
Env = Annotated[
    Texts,
    typer.Option(
        "--env",
        metavar="NAME[=VALUE]",
        help="A variable of the environment; NAME alone keeps what else is taken away: PYTHONUNBUFFERED. Repeatable.",
    ),
]
Task = Annotated[Text, typer.Option("--task", metavar="ID", help="The task id. Default: 3.")]
Settles = Annotated[
    Text,
    typer.Option(
        "--settles",
        metavar="WHEN",
        help="When it acks or fails a tuple: by-limit (the default), on-tick, on-next, after-N or unchecked.",
    ),
]
Accepts = Annotated[
    Texts,
    typer.Option(
        "--accepts",
        metavar="WHAT",
        help="What it takes besides: ticks, text, large, integers, floats, null, nested, empty, arity. Repeatable.",
    ),
]
Pid = Annotated[
    Text, typer.Option("--pid", metavar="own|foreign", help="foreign: behind a container, where pids differ.")
]
Limits = Annotated[
    Texts,
    typer.Option(
        "--limit",
        metavar="NAME=SECONDS",
        help="One limit: pid, sync, heartbeat, settle, read, output, exit-after-eof, exit-after-term, pid-file or "
        "grace; or frame, in bytes. Repeatable.",
    ),
]
RealTicks = Annotated[
    bool,
    typer.Option(
        "--real-ticks", help="Send ticks as often as conf says (topology.tick.tuple.freq.secs), not each second."
    ),
]
Exhaustive = Annotated[
    bool,
    typer.Option("--exhaustive", help="Also play the cases that could only show the same hang again."),
]
Include = Annotated[
    Texts,
    typer.Option(
        "-k",
        metavar="PATTERN",
        help="Only these cases: an id, a dotted prefix, a glob, or @FILE with one a line. Repeatable.",
    ),
]
Exclude = Annotated[Texts, typer.Option("--exclude", metavar="PATTERN", help="Not these cases; as -k. Repeatable.")]
Jobs = Annotated[
    Text, typer.Option("-j", "--jobs", metavar="N", help="Play N cases at once, each with a process. Default: 1.")
]
Retries = Annotated[
    Text,
    typer.Option("--retries", metavar="N", help="Play a case that fails up to N times again; if it passes: flaky."),
]
KnownFailures = Annotated[
    Text,
    typer.Option("--known-failures", metavar="FILE", help="Cases that may fail, and by which rules; they still run."),
]
WriteKnownFailures = Annotated[
    Text, typer.Option("--write-known-failures", metavar="FILE", help="Write what fails in this run to that file.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Start nothing: show the command, and the cases that would be played.")
]
FailFast = Annotated[bool, typer.Option("-x", help="Stop at the first failure.")]
MaxFail = Annotated[Text, typer.Option("--max-fail", metavar="N", help="Stop at the Nth failure.")]
Timeout = Annotated[
    Text,
    typer.Option(
        "--timeout", metavar="SECONDS", help="Every limit that --limit does not set. Default: as patient as Storm, 31."
    ),
]
Memory = Annotated[
    Text,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="What its processes may hold together: 512M, 2G, none. Default: half of the machine, parted among --jobs.",
    ),
]
Seed = Annotated[Text, typer.Option("--seed", metavar="N", help="Where everything random comes from. Default: 0.")]
Record = Annotated[Text, typer.Option("--record", metavar="DIR", help="For transcripts. Default: .mlcheck/last.")]
RecordAll = Annotated[bool, typer.Option("--record-all", help="Keep the transcripts of passing cases too.")]
Suites = Annotated[
    Texts, typer.Option("--suite", metavar="PATH", help="A file or directory with more cases. Repeatable.")
]
Testees = Annotated[
    Texts,
    typer.Option("--testee", metavar="DIR", help="Test a library, by its testee in DIR (testee.yaml). Repeatable."),
]
Prepare = Annotated[
    bool,
    typer.Option(
        "--prepare/--no-prepare",
        help="First run the commands that each testee.yaml names to install or build it. Not by default.",
    ),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print only the summary.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Name each case on stderr as it begins.")]
