"""Texts of the help as data: examples of commands, and the panels of their options."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "run": (
        "mlcheck run bolt.py",
        "mlcheck run --kind spout -- ruby spout.rb --flag",
        "mlcheck run --tuple '[\"a b\", 1]' --stream default:word,count bolt.py",
        "mlcheck run --strict --report junit=mlcheck.xml     # all of mlcheck.toml",
    ),
    "explain": (
        "mlcheck explain ack-twice",
        "mlcheck explain 'Pipe to subprocess seems to be broken! No output read.'",
        "mlcheck explain --log worker.log",
    ),
    "repl": ("mlcheck repl bolt.py", "mlcheck repl --kind bolt --source steps.repl bolt.py"),
    "lint": ("mlcheck lint .mlcheck/last", "mlcheck lint --storm 1.2 incident.ndjson"),
    "report": ("mlcheck report incident.ndjson -o incident.html", "mlcheck report --open incident.zip -o incident"),
    "replay": (
        "mlcheck replay incident.ndjson -- python3 bolt.py",
        "mlcheck replay incident.ndjson --until 120 --then repl -- python3 bolt.py",
    ),
    "diff": ("mlcheck diff incident.ndjson later.ndjson",),
    "shrink": ("mlcheck shrink incident.ndjson -o small.ndjson -- python3 bolt.py",),
    "promote": ("mlcheck promote small.ndjson -o bolt.thirteen.yaml",),
    "tap": ("mlcheck tap --record /var/tmp/tap -- python3 bolt.py",),
    "topology run": (
        "mlcheck topology run topology.yaml",
        "mlcheck topology run --fault kill:split@20 topology.yaml",
    ),
    "topology plan": ("mlcheck topology plan topology.yaml",),
    "topology explain": ("mlcheck topology explain", "mlcheck topology explain .mlcheck/topology/NAME --emission 1"),
    "fuzz": ("mlcheck fuzz --kind bolt bolt.py",),
    "bench": ("mlcheck bench bolt.py",),
    "host": ("mlcheck host -- java -jar host.jar",),
    "matrix": ("mlcheck matrix testees -o matrix",),
    "audit run": ("mlcheck audit run recordings/ -o audit",),
    "audit watch": ("mlcheck audit watch recordings/ -o watched",),
    "audit replay": ("mlcheck audit replay recordings/ -o compared -- python3 bolt.py",),
    "new": ("mlcheck new bolt --language python words", "mlcheck new testee --language go library"),
    "init": ("mlcheck init topology.yaml", "mlcheck init my-streamparse-project --output -"),
    "docs": ("mlcheck docs heartbeat", "mlcheck docs worker-log"),
    "list rules": ("mlcheck list rules", "mlcheck list rules --json"),
    "list cases": ("mlcheck list cases",),
    "list host-cases": ("mlcheck list host-cases",),
    "list protocol": ("mlcheck list protocol", "mlcheck list protocol --untested"),
    "list versions": ("mlcheck list versions",),
    "list --kills": ("mlcheck list --kills",),
    "config show": ("mlcheck config show",),
    "schema list": ("mlcheck schema list",),
    "schema show": ("mlcheck schema show messages/emit",),
    "schema validate": ("mlcheck schema validate config mlcheck.toml",),
    "verify-storm": ("mlcheck verify-storm 2.8.3",),
    "kafka demo": ("mlcheck kafka demo",),
    "kafka lag": ("mlcheck kafka lag sentences -b broker:9092 --id my-topology",),
    "demo": ("mlcheck demo", "mlcheck demo --no-input"),
    "completion": ("mlcheck completion bash",),
}
"""Command lines of each command; tests run them."""

MOST_USED: dict[str, tuple[str, ...]] = {
    "run": ("--kind", "--tuple", "--stream", "--storm", "-k", "--report"),
    "repl": ("--kind", "--tuple", "--source", "--storm", "--stream"),
    "fuzz": ("--kind", "--tuple", "--conversations", "--max-time", "--save-case"),
    "bench": ("--kind", "--tuple", "--windows", "--seconds", "--compare"),
    "matrix": ("--output", "--prepare", "-k"),
    "host": ("-k", "--patience", "--report"),
    "replay": ("--until", "--then", "--ignore", "--compare", "--key"),
    "shrink": ("--output", "--finding"),
    "tap": ("--record", "--record-all", "--ring", "--write-wrapper"),
    "topology run": ("--storm", "--fault", "--messages", "--seconds", "--guarantee", "--record"),
    "topology plan": ("--storm", "--run"),
    "audit run": ("--output", "--report"),
    "audit watch": ("--output", "--to", "--once"),
    "audit replay": ("--output", "--ignore", "--compare", "--key"),
}
"""Options that are told first, of the commands that have many."""

PANELS: dict[str, tuple[str, ...]] = {
    "The component": (
        *("--component", "--cwd", "--env", "--task", "--pid", "--testee", "--prepare"),
        *("--resources", "--jar", "--classpath", "--streamparse"),
    ),
    "What it is told": (
        *("--storm", "--tuples", "--conf", "--conf-file", "--ackers", "--input", "--stream", "--kind"),
        *("--filter", "--property", "--env-filter"),
    ),
    "What it promises": ("--settles", "--accepts", "--real-ticks"),
    "Cases": ("--exclude", "--suite", "--exhaustive", "--known-failures", "--write-known-failures", "--dry-run"),
    "How it is played": (
        *("-x", "--max-fail", "--jobs", "--retries", "--limit", "--timeout", "--memory", "--seed", "--storm-required"),
        *("--seeds", "--idle", "--drain", "--late", "--search", "--real-time", "--no-limits", "--rounds", "--cpus"),
        *(
            "--master",
            "--spark-conf",
            "--spark-log",
            "--delay",
            "--option",
            "--stopped",
            "--checkpoint",
            "--source",
            "--no-input",
        ),
    ),
    "What comes out": (
        *("--strict", "--report", "--record", "--record-all", "--transcripts", "--color", "--quiet", "--verbose"),
        *("--rotate", "--keep", "--sample", "--status", "--brief", "--add", "--database", "--overwrite"),
        *("--format", "--redact", "--json", "--help"),
    ),
}
"""Panels of options, in their order. Each option of a command that has many is in one."""
