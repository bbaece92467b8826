"""``mlcheck topology plan``."""

from multilang_cli.cli.options.flux import FLUX
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, JSON
from multilang_cli.cli.options.table import OptionTable, text

OPTIONS: OptionTable = {
    **FLUX,
    "run": text("--run", "DIR", "The folder of a run: say what its history tells, too."),
    "as_json": JSON,
    "color": COLOR,
}


@handled_by("topology.console.plan:plan_given", options=OPTIONS, most_used=("storm", "run"))
def plan() -> None:
    """Show what becomes of a topology: its graph, tasks and groupings, and what is not guaranteed.

    FLUX: a topology in Storm's Flux YAML. Nothing is started.
    """
