"""Which commands there are, as data: nothing of a command is imported to list or to find it."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A command: the module in ``multilang_cli.cli`` with its function ``command``, and a line of help."""

    module: str
    function: str
    help: str


COMMANDS: dict[str, Command] = {
    "run": Command("run", "run", "Check a spout or bolt: start it, talk to it, judge it."),
    "repl": Command("repl", "repl", "Play Storm by hand, one message at a time."),
    "lint": Command("lint", "lint", "Judge recorded conversations."),
    "tap": Command("tap", "tap", "Stand in a topology in place of a component, and record it."),
    "explain": Command("explain", "explain", "Explain a rule or a case."),
    "list rules": Command("listing", "rules", "List what the protocol asks and what real Storm punishes."),
    "list cases": Command("listing", "cases", "List the cases that `run` plays."),
    "list versions": Command("listing", "versions", "List the Storm versions that can be played."),
    "config show": Command("config", "show", "Show every setting, its value and where it comes from."),
    "schema list": Command("schema", "names", "List the published JSON Schemas."),
    "schema show": Command("schema", "show", "Print a schema."),
    "schema validate": Command("schema", "validate", "Check files against a schema."),
    "verify-storm": Command("verify_storm", "verify_storm", "Ask real Storm, and print what differs from the records."),
    "new": Command("new", "new", "Write a small working component, with configuration and CI."),
    "completion": Command("completion", "completion", "Print a script that completes the command line in a shell."),
}
"""Every command by its words."""

GROUPS = {
    "config": "Show the configuration.",
    "list": "List rules, cases or Storm versions.",
    "schema": "List, print or apply the published JSON Schemas.",
}
"""First words that are no command by themselves."""

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
    """The text of ``mlcheck --help``."""
    lines = {name: GROUPS.get(name, command.help) for words, command in COMMANDS.items() for name in [words.split()[0]]}
    return (
        "Usage: mlcheck COMMAND [OPTIONS] ...\n\n"
        "  Check spouts and bolts that speak Apache Storm's multilang protocol.\n\n"
        f"{_table('Commands', lines)}\n"
        f"{_table('Options', {'--version': 'Print the version.', '-h, --help': 'Print this help.'})}\n"
        "Begin with:\n"
        "  mlcheck run bolt.py\n"
        "  mlcheck run --kind spout -- ruby spout.rb --flag\n"
        "  mlcheck COMMAND --help\n\n"
        f"{_EXIT_CODES}"
    )


def group_help(group: str) -> str:
    """The text of ``mlcheck GROUP --help``."""
    lines = {words.split()[1]: command.help for words, command in COMMANDS.items() if words.split()[0] == group}
    return (
        f"Usage: mlcheck {group} COMMAND [OPTIONS] ...\n\n"
        f"  {GROUPS[group]}\n\n"
        f"{_table('Commands', lines)}\n"
        f"{_table('Options', {'-h, --help': 'Print this help.'})}"
    )


def _table(title: str, lines: dict[str, str]) -> str:
    wide = max(map(len, lines))
    return f"{title}:\n" + "".join(f"  {name:{wide}}  {text}\n" for name, text in lines.items())
