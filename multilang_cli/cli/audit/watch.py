"""``mlcheck audit watch``."""

from pathlib import Path

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import SPARK
from multilang_cli.cli.options.table import REQUIRED, OptionTable, Panel, argument, flag, option, text, texts

OPTIONS: OptionTable = {
    "source": argument(str, "FOLDER|kafka://HOST:PORT/TOPIC"),
    "output": option(Path, "-o --output", "DIR", "Where alerts, roots and state go.", REQUIRED),
    "timeout": option(float, "--timeout", None, "topology.message.timeout.secs.", 30.0, least=0.1, panel=Panel.PLAYED),
    "delay": option(float, "--delay", None, "Seconds that a line may be late by.", 10.0, least=0, panel=Panel.PLAYED),
    "stopped": option(
        float | None,
        "--stopped",
        "SECONDS",
        "A recording without a line for so long has stopped; 0: none has.",
        least=0,
        panel=Panel.PLAYED,
    ),
    "checkpoint": text(
        "--checkpoint", "PATH", "Where Spark's state is, instead of in DIR: s3a://...", "", panel=Panel.PLAYED
    ),
    "to": texts("--to", "PLACE", "Tell alerts there too: console, kafka://..., https://..., prometheus=FILE."),
    "option": texts("--option", "K=V", "An option of Spark's source. May be repeated.", panel=Panel.PLAYED),
    "once": flag("--once", "Up to what is there now, and end."),
    **SPARK,
}


@handled_by("audit.console.watching:watch_given", options=OPTIONS, most_used=("output", "to", "once"))
def watch() -> None:
    """Audit what is still being recorded, and go on where DIR says that it was stopped.

    Each file is read once, when it is seen: rotated parts, moved there whole. Alerts are NDJSON, below DIR/alerts; what
    came too late is below DIR/late, and changes no verdict.
    """
