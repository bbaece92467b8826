"""The options of the commands that read a Flux file."""

from multilang_cli.cli.options.component import TOLD
from multilang_cli.cli.options.shared import STORM
from multilang_cli.cli.options.table import OptionTable, Panel, argument, flag, option, text, texts

FLUX: OptionTable = {
    "flux": argument(str | None, "FLUX", None),
    "storm": STORM,
    "filters": texts(
        "--filter", "FILE", "Java properties that stand for ${name} in the file. Repeatable.", panel=Panel.TOLD
    ),
    "properties": texts("--property", "K=V", "What stands for ${K} in the file. Repeatable.", panel=Panel.TOLD),
    "env_filter": flag(
        "--env-filter", "Put environment variables in place of ${ENV-NAME} in the file.", panel=Panel.TOLD
    ),
    "resources": text(
        "--resources",
        "DIR",
        "Where components start. Default: resources beside the file, or its folder.",
        panel=Panel.COMPONENT,
    ),
    "jars": texts(
        "--jar", "JAR", "A jar with Java components of the topology. Repeatable; needs a JDK.", panel=Panel.COMPONENT
    ),
    "class_path": text("--classpath", "PATH", "More of the class path of Java components.", panel=Panel.COMPONENT),
    "streamparse": text(
        "--streamparse",
        "DIR[:NAME]",
        "Instead of a file: the topology of a streamparse project.",
        panel=Panel.COMPONENT,
    ),
    "conf": TOLD["conf"],
    "ackers": option(
        int | None, "--ackers", "N", "Short for --conf topology.acker.executors=N.", least=0, panel=Panel.TOLD
    ),
}
