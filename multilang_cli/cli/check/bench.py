"""``mlcheck bench``."""

from multilang_cli.cli.options.component import LIMITS, SEED, TOLD, WHICH
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, COMMAND
from multilang_cli.cli.options.table import OptionTable, Panel, option, text, texts

OPTIONS: OptionTable = {
    "command": COMMAND,
    "windows": text("--windows", "N,N", "Tuples in flight, or pending.", "1,10,100,1000,10000"),
    "seconds": option(float, "--seconds", "S", "How long each measure takes. Default: 1.", 1.0, least=0.05),
    "rounds": option(int, "--rounds", "N", "Measures at each window. Default: 3.", 3, least=1, panel=Panel.PLAYED),
    "compare": text("--compare", "COMMAND", "Another component, in turn with this: 'ruby b.rb'."),
    "cpus": text("--cpus", "any|one|two", "Both sides on any CPU, on one, or on one each.", "any", panel=Panel.PLAYED),
    **WHICH,
    **TOLD,
    **LIMITS,
    "seed": SEED,
    "reports": texts("--report", "json|html=PATH", "The figures, - for stdout. Repeatable."),
    "color": COLOR,
}


@handled_by(
    "bench.benching:bench_given",
    "suite.probe:kind_of",
    options=OPTIONS,
    most_used=("windows", "seconds", "compare", "kind", "tuples"),
)
def bench() -> None:
    """Measure a component: tuples a second, round trips, heartbeats under load, CPU time and memory.

    COMMAND: its file, or a command; if it has arguments, after --. Every message is judged, as in a run. A spout's
    tuples are acked, real ones too.
    """
