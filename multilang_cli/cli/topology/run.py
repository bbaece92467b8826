"""``mlcheck topology run``."""

from multilang_cli.cli.options.flux import FLUX
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, QUIET, REPORTS, STRICT
from multilang_cli.cli.options.table import OptionTable, Panel, flag, option, text, texts

SECONDS = float | None
OPTIONS: OptionTable = {
    **FLUX,
    "messages": option(
        int | None, "--messages", "N", "Deactivate the spouts when they have emitted N tuples.", least=1
    ),
    "seconds": option(SECONDS, "--seconds", "S", "Deactivate the spouts after S seconds at the latest.", least=0.1),
    "idle": option(
        float,
        "--idle",
        "S",
        "Take sources for exhausted after S seconds in which nothing went on; 5 times S until the first tuple.",
        1.0,
        least=0.05,
        panel=Panel.PLAYED,
    ),
    "drain": option(
        SECONDS,
        "--drain",
        "S",
        "Wait so long for what is under way at the end. Default: two message timeouts.",
        least=0.0,
        panel=Panel.PLAYED,
    ),
    "seed": option(int | None, "--seed", "N", "Where everything random comes from. Default: 0.", panel=Panel.PLAYED),
    "seeds": option(
        int,
        "--seeds",
        "N",
        "Run it once for each of N seeds, from --seed on. The verdict is that of the worst, whose run is kept.",
        1,
        least=1,
        panel=Panel.PLAYED,
    ),
    "late": text(
        "--late",
        "ignore|fail",
        "What an acker does about a message for a tuple it has given up: nothing, as every Storm that was looked "
        "at, or fail the tuple.",
        "ignore",
        panel=Panel.PLAYED,
    ),
    "faults": texts(
        "--fault",
        "KIND:TARGET",
        "Break something on purpose: kill:split, pause:count:2@30, random:3, or @FILE with a plan. Repeatable; "
        "mlcheck docs topology-faults.",
    ),
    "search": option(
        SECONDS,
        "--search",
        "SECONDS",
        "Search for so long for faults that break it, from a run without any on: by what its history leaves "
        "unproven. Those found are made few, and written to a file for --fault @FILE.",
        least=0.1,
        panel=Panel.PLAYED,
    ),
    "guarantee": text(
        "--guarantee",
        "at-least-once|at-most-once|none",
        "The processing guarantee to judge by. Default: mlcheck.guarantee of the file, else that of mlcheck.toml; "
        "without any, unanchored tuples are a warning.",
    ),
    "record": text("--record", "DIR", "The folder of the run. Default: .mlcheck/topology/NAME."),
    "transcripts": flag("--transcripts/--no-transcripts", "Record the conversation with every task.", default=True),
    "strict": STRICT,
    "reports": REPORTS,
    "color": COLOR,
    "quiet": QUIET,
}


@handled_by(
    "topology.console.running:run_given",
    options=OPTIONS,
    most_used=("storm", "messages", "seconds", "faults", "guarantee", "record"),
)
def run() -> None:
    """Run a whole topology on this machine, with its ackers: no cluster, no JVM.

    FLUX: a topology in Storm's Flux YAML. Each task is a process; each conversation is judged and recorded. The run
    ends when the sources are exhausted, or by --messages or --seconds; then what is under way is settled.
    """
