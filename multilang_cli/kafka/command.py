"""``mlcheck-kafka-spout``: help for people, and the start of the spout for Storm."""

from __future__ import annotations

import json
import sys
import textwrap

import msgspec

INSTALL = "pip install 'multilang-cli[kafka]'"
HEAD = """\
Usage: mlcheck-kafka-spout [NAME=VALUE]...

A shell spout that reads a Kafka topic: Storm starts it, as it starts any component of a topology. Settings stand in
the topology's conf as kafka.spout.NAME, or here. What begins with kafka.client. goes to librdkafka as it is.

"""
WIDTH = 100


def settings() -> list[tuple[str, str, str]]:
    """Every setting: its name, its default ("" if it must be given), what it is for."""
    from multilang_cli.kafka.config import KafkaConfig  # noqa: PLC0415 (not needed to say what is missing)

    rows = []
    for name, schema in msgspec.json.schema(KafkaConfig)["$defs"]["KafkaConfig"]["properties"].items():
        default = "" if schema.get("default") is None else str(schema["default"])
        rows.append((name, default, str(schema["description"])))
    return rows


def help_text() -> str:
    """The text of ``--help``."""
    lines = []
    for name, default, what in settings():
        title = f"  {name}" + (f" = {default}" if default else "")
        lines += [title, *textwrap.wrap(what, WIDTH, initial_indent="      ", subsequent_indent="      ")]
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    """Run the spout, or print help."""
    arguments = sys.argv[1:]
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(help_text())
        return
    try:
        from multilang_cli.kafka.spout import KafkaSpout  # noqa: PLC0415 (its client is an extra)
    except ImportError as error:
        sys.stderr.write(f"mlcheck-kafka-spout: the Kafka client is not installed ({error}); {INSTALL}\n")
        sys.exit(2)
    try:
        KafkaSpout(arguments).run()
    except KeyboardInterrupt:
        sys.exit(130)
    except json.JSONDecodeError as error:
        sys.stderr.write(
            f"mlcheck-kafka-spout: what came on stdin is no JSON ({error}). It is Storm that starts it, or "
            "`mlcheck topology run`; `mlcheck repl -- mlcheck-kafka-spout` plays Storm by hand.\n"
        )
        sys.exit(2)
