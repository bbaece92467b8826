"""``mlcheck init``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import JSON
from multilang_cli.cli.options.table import OptionTable, argument, text

OPTIONS: OptionTable = {
    "source": argument(str, "SOURCE", "."),
    "output": text("--output -o", "FILE", "Where it is written; - is stdout.", "mlcheck.toml"),
    "as_json": JSON,
}


@handled_by("scaffold.existing:init_given", "topology.console.flux_file:components_of_flux", options=OPTIONS)
def init() -> None:
    """Write mlcheck.toml for existing components: names, commands, inputs, groupings, outputs.

    SOURCE: a Flux file or the folder it lies in, the folder of a streamparse project (with topologies/), or a folder
    of programs, such as Storm's resources; the working directory by default. Nothing is started, and no file is
    overwritten.
    """
