"""``mlcheck-kafka-spout`` and ``mlcheck-kafka-bolt``: help for people, and their start for Storm."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from multilang_cli.component.base import ShellComponent

INSTALL = "pip install 'multilang-cli[kafka]'"
SPOUT = "mlcheck-kafka-spout"
BOLT = "mlcheck-kafka-bolt"
HEADS = {
    SPOUT: """\
Usage: mlcheck-kafka-spout [NAME=VALUE]...

A shell spout that reads a Kafka topic: Storm starts it, as it starts any component of a topology. Settings stand in
the topology's conf as kafka.spout.NAME, or here. What begins with kafka.client. goes to librdkafka as it is.

""",
    BOLT: """\
Usage: mlcheck-kafka-bolt [NAME=VALUE]...

A shell bolt that writes tuples to Kafka: Storm starts it, as it starts any component of a topology. Settings stand in
the topology's conf as kafka.bolt.NAME, or here. What begins with kafka.client. goes to librdkafka as it is.

""",
}
HELP_WIDTH = 100


def settings(program: str = SPOUT) -> list[tuple[str, str, str]]:
    """Every setting: its name, its default ("" if it must be given), what it is for."""
    from multilang_cli.kafka.bolt.config import KafkaBoltConfig  # noqa: PLC0415 (not needed to say what is missing)
    from multilang_cli.kafka.config import KafkaConfig  # noqa: PLC0415

    shape = KafkaConfig if program == SPOUT else KafkaBoltConfig
    rows = []
    for name, schema in msgspec.json.schema(shape)["$defs"][shape.__name__]["properties"].items():
        default = "" if schema.get("default") is None else str(schema["default"])
        rows.append((name, default, str(schema["description"])))
    return rows


def help_text(program: str = SPOUT) -> str:
    """The text of ``--help``."""
    lines = []
    for name, default, what in settings(program):
        title = f"  {name}" + (f" = {default}" if default else "")
        lines += [title, *textwrap.wrap(what, HELP_WIDTH, initial_indent="      ", subsequent_indent="      ")]
    return HEADS[program] + "\n".join(lines) + "\n"


def main() -> None:
    """Run the spout, or print help."""
    _run(SPOUT)


def bolt_main() -> None:
    """Run the bolt, or print help."""
    _run(BOLT)


def _run(program: str) -> None:
    arguments = sys.argv[1:]
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(help_text(program))
        return
    try:
        component = _component(program, arguments)
    except ImportError as error:
        sys.stderr.write(f"{program}: the Kafka client is not installed ({error}); {INSTALL}\n")
        sys.exit(2)
    try:
        component.run()
    except KeyboardInterrupt:
        sys.exit(130)
    except json.JSONDecodeError as error:
        sys.stderr.write(
            f"{program}: what came on stdin is no JSON ({error}). It is Storm that starts it, or "
            f"`mlcheck topology run`; `mlcheck repl -- {program}` plays Storm by hand.\n"
        )
        sys.exit(2)


def _component(program: str, arguments: list[str]) -> ShellComponent:
    """Raises ImportError: its client is an extra."""
    if program == BOLT:
        from multilang_cli.kafka.bolt.bolt import KafkaBolt  # noqa: PLC0415 (its client is an extra)

        return KafkaBolt(arguments)
    from multilang_cli.kafka.spout import KafkaSpout  # noqa: PLC0415 (its client is an extra)

    return KafkaSpout(arguments)
