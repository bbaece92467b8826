"""``mlcheck config show``: every setting, its value and where it comes from."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, JSON
from multilang_cli.cli.options.table import OptionTable, text

OPTIONS: OptionTable = {
    "component": text("--component", "NAME", "Only this [[component]] of mlcheck.toml."),
    "layout": text("--format", "pretty|json", "json is --json.", "pretty"),
    "as_json": JSON,
    "color": COLOR,
}


@handled_by("lookup.configuration:configuration_given", options=OPTIONS)
def show() -> None:
    """Show every setting of a run, its value, and where it comes from.

    The origin is a variable of the environment, a line of the configuration file, or default. Flags of `mlcheck run`
    win over all of them. Secrets of conf and env are hidden.
    """
