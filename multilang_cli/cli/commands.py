"""Commands as data: nothing of a command is imported to list or to find it."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A command: the module in ``multilang_cli.cli`` with its function ``command``, and a line of help."""

    module: str
    function: str
    help: str


COMMANDS: dict[str, Command] = {
    "run": Command("check.run", "run", "Check a spout or bolt: start it, talk to it, judge it."),
    "matrix": Command("check.matrix", "matrix", "Play every case against libraries: a page, a table, badges."),
    "repl": Command("repl", "repl", "Play Storm by hand, one message at a time."),
    "host": Command("check.host", "host", "Check what plays Storm to spouts and bolts."),
    "fuzz": Command("check.fuzz", "fuzz", "Search for a conversation in which a component goes wrong."),
    "bench": Command("check.bench", "bench", "Measure a component: rates, round trips, load, cost."),
    "lint": Command("recordings.lint", "lint", "Judge recorded conversations."),
    "report": Command("recordings.report", "report", "Make one HTML page of recorded conversations."),
    "replay": Command("recordings.replay", "replay", "Play a recording to a component again, and compare."),
    "diff": Command("recordings.diff", "diff", "Compare two recorded conversations of the same input."),
    "shrink": Command("recordings.shrink", "shrink", "Make a recording as short as can be."),
    "promote": Command("recordings.promote", "promote", "Make a conformance case of a recording of something wrong."),
    "tap": Command("recordings.tap", "tap", "Stand in a topology in place of a component, and record it."),
    "topology run": Command("topology.run", "run", "Run a whole topology from its Flux file, with its ackers."),
    "topology plan": Command("topology.plan", "plan", "Show a Flux file's graph, tasks, and what is not guaranteed."),
    "topology explain": Command("topology.explain", "explain", "Show the ack framework step by step, of any root."),
    "audit run": Command("audit.run", "run", "Say what became of every tuple of a cluster, on Spark."),
    "audit watch": Command("audit.watch", "watch", "Audit what is still being recorded, and tell what goes wrong."),
    "audit replay": Command("audit.replay", "replay", "Play recordings to a component again, on a cluster."),
    "explain": Command("lookup.explain", "explain", "Explain a rule, cause, case, sentence, or a worker's log."),
    "docs": Command("lookup.docs", "docs", "Show a page of the docs, or find it by a word."),
    "list rules": Command("lookup.listing", "rules", "List what the protocol asks and what real Storm punishes."),
    "list cases": Command("lookup.listing", "cases", "List the cases that `run` plays."),
    "list host-cases": Command("lookup.listing", "host_cases", "List the cases that `host` plays."),
    "list protocol": Command("lookup.listing", "protocol", "List the sentences of the written protocol."),
    "list versions": Command("lookup.listing", "versions", "List the Storm versions that can be played."),
    "list --kills": Command("lookup.listing", "kills", "List which planted bugs each case kills."),
    "config show": Command("lookup.config", "show", "Show every setting, its value and where it comes from."),
    "schema list": Command("lookup.schema", "names", "List the published JSON Schemas."),
    "schema show": Command("lookup.schema", "show", "Print a schema."),
    "schema validate": Command("lookup.schema", "validate", "Check files against a schema."),
    "kafka demo": Command("kafka", "demo", "Try the Kafka spout on a broker of its own."),
    "kafka lag": Command("kafka", "lag", "Show how far a Kafka spout is behind."),
    "verify-storm": Command("verify_storm", "verify_storm", "Ask real Storm, and print what differs from the records."),
    "new": Command("new", "new", "Write a small working component, with configuration and CI."),
    "demo": Command("demo", "demo", "Show in a minute what mlcheck does."),
    "init": Command("init", "init", "Write mlcheck.toml for existing components."),
    "completion": Command("completion", "completion", "Print a script that completes the command line in a shell."),
}
"""Every command by its words."""

REDACTING = frozenset(
    {
        *("run", "matrix", "repl", "host", "fuzz", "bench", "lint", "report", "replay", "diff", "shrink", "promote"),
        *("tap", "topology run", "topology plan", "topology explain", "explain", "config show"),
        *("kafka demo", "kafka lag", "audit run", "audit watch", "audit replay", "schema validate"),
    }
)
"""Commands that show or write what a component was given or said, and hide in it what ``--redact`` names."""

GROUPS = {
    "audit": "Say from recordings what became of every tuple, on Spark.",
    "config": "Show the configuration.",
    "kafka": "Look at a Kafka spout's work, or try one.",
    "list": "List rules, cases, Storm versions, or what each case kills.",
    "schema": "List, print or apply the published JSON Schemas.",
    "topology": "Run whole topologies on this machine.",
}
"""First words that are no command by themselves."""

TOP: dict[str, tuple[str, ...]] = {
    "Most used": ("run", "explain", "repl", "lint", "topology", "new"),
    "Check": ("matrix", "host", "fuzz", "bench"),
    "Recordings": ("tap", "report", "replay", "diff", "shrink", "promote", "audit"),
    "Look up": ("docs", "list", "config", "schema"),
    "More": ("demo", "init", "kafka", "verify-storm", "completion"),
}
"""Panels of ``mlcheck --help``, and the commands in each."""

_EXIT_CODES = """\
Exit codes:
  0    conformant
  1    not conformant (with --strict also on warnings)
  2    usage or configuration
  3    the component was not started or said no complete first message
  4    nothing selected
  5    a fault of mlcheck's own
  6    inconclusive
  130  interrupted
"""


def top_help() -> str:
    """The text of ``mlcheck --help``: prepared, so that it starts at once."""
    lines = {name: GROUPS.get(name, command.help) for words, command in COMMANDS.items() for name in [words.split()[0]]}
    wide = max(map(len, lines))
    panels = "\n".join(_table(title, {name: lines[name] for name in names}, wide) for title, names in TOP.items())
    return (
        "Usage: mlcheck COMMAND [OPTIONS] ...\n\n"
        "  Check spouts and bolts that speak Apache Storm's multilang protocol.\n\n"
        "Examples:\n"
        "  mlcheck run bolt.py\n"
        "  mlcheck run --kind spout -- ruby spout.rb --flag\n"
        "  mlcheck explain 'Pipe to subprocess seems to be broken! No output read.'\n"
        "  mlcheck COMMAND --help\n\n"
        f"{panels}\n"
        f"{_table('Options', {'--version': 'Print the version.', '-h, --help': 'Print this help.'}, wide)}\n"
        f"{_EXIT_CODES}"
    )


def group_help(group: str) -> str:
    """The text of ``mlcheck GROUP --help``, with the first example of each of its commands."""
    from multilang_cli.cli.examples import EXAMPLES  # noqa: PLC0415 (not needed for the top)

    members = [words for words in COMMANDS if words.split()[0] == group]
    lines = {words.split()[1]: COMMANDS[words].help for words in members}
    examples = "".join(f"  {EXAMPLES[words][0]}\n" for words in members)
    return (
        f"Usage: mlcheck {group} COMMAND [OPTIONS] ...\n\n"
        f"  {GROUPS[group]}\n\n"
        f"Examples:\n{examples}\n"
        f"{_table('Commands', lines)}\n"
        f"{_table('Options', {'-h, --help': 'Print this help.'})}"
    )


def _table(title: str, lines: dict[str, str], wide: int = 0) -> str:
    wide = wide or max(map(len, lines))
    return f"{title}:\n" + "".join(f"  {name:{wide}}  {text}\n" for name, text in lines.items())
