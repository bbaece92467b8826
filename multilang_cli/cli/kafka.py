"""``mlcheck kafka lag|demo``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.reports.escape import escape
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import remark, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.kafka.lag import Lag

INSTALL = "pip install 'multilang-cli[kafka]'"
ANSWER_LIMIT = 10.0
IDLE = 60.0
"""Seconds that the demo waits for a spout that emits nothing: the broker is new."""


def lag(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", hidden=True)],
    servers: Annotated[str, typer.Option("--bootstrap-servers", "-b", help="HOST:PORT, several with commas.")],
    group: Annotated[str, typer.Option("--id", help="The spout's id: its consumer group.")] = "mlcheck-kafka-spout",
    client: Annotated[
        list[str] | None, typer.Option("--client", metavar="K=V", help="A setting of librdkafka.")
    ] = None,
    *,
    as_json: Json = False,
) -> int:
    """Show how far a consumer group is behind on TOPIC, several with commas, or ^PATTERN; by partition."""
    try:
        from multilang_cli.kafka.lag import LagError, lag_of  # noqa: PLC0415 (an extra)
    except ImportError:
        raise CommandError(f"kafka lag: the Kafka client is not installed; {INSTALL}") from None

    settings = dict(_pair(each) for each in client or ())
    try:
        found = lag_of(servers, topic, group, settings, ANSWER_LIMIT)
    except LagError as error:
        raise CommandError(f"kafka lag: {error}.") from None
    if as_json:
        return print_json(found)
    _show(found)
    return ExitCode.CONFORMANT


Messages = Annotated[int, typer.Option("--messages", "-n", min=1, max=10_000_000, help="Words that are written.")]
Partitions = Annotated[int, typer.Option("--partitions", min=1, max=64, help="Partitions of the topic.")]
Tasks = Annotated[int, typer.Option("--tasks", min=1, max=16, help="Tasks of the spout, and of the bolt.")]
Folder = Annotated[str, typer.Option("--record", metavar="DIR", help="The folder of the run.")]


def demo(
    messages: Messages = 1000, partitions: Partitions = 4, tasks: Tasks = 2, record: Folder = ".mlcheck/topology/kafka"
) -> int:
    """Start a Kafka broker, fill a topic, and run a topology that counts its words. Needs Java 17 and Maven."""
    try:
        from multilang_cli.kafka.lag import lag_of  # noqa: PLC0415 (an extra)
        from multilang_cli.kafka.local import demo as parts  # noqa: PLC0415
        from multilang_cli.kafka.local.artifacts import UnavailableError  # noqa: PLC0415
        from multilang_cli.kafka.local.broker import LocalKafka  # noqa: PLC0415
    except ImportError:
        raise CommandError(f"kafka demo: the Kafka client is not installed; {INSTALL}") from None
    from multilang_cli.topology.console.running import run_given  # noqa: PLC0415 (slow to import)

    folder = Path(record)
    folder.mkdir(parents=True, exist_ok=True)
    flux = folder / "topology.yaml"
    remark("starting a Kafka broker (the first time Maven fetches 54 MB)")
    try:
        with LocalKafka() as kafka:
            servers = kafka.bootstrap_servers
            parts.fill(servers, partitions, messages)
            parts.write_topology(flux, servers, tasks)
            remark(f"topic {parts.TOPIC} at {servers} has {messages:,} messages; {flux} reads it")
            code = run_given({"flux": str(flux), "record": record, "messages": messages, "idle": IDLE})
            _show_counts(folder)
            _show(lag_of(servers, parts.TOPIC, parts.NAME, {}, ANSWER_LIMIT))
    except UnavailableError as error:
        raise CommandError(f"kafka demo: {error}") from None
    return code


def _show_counts(folder: Path) -> None:
    """The last count of each word that the bolt emitted."""
    from multilang_cli.topology.history import Emitted  # noqa: PLC0415 (slow to import)
    from multilang_cli.topology.history_file import NAME, read_history  # noqa: PLC0415

    counts: dict[str, int] = {}
    for event in read_history(folder / NAME):
        if isinstance(event, Emitted) and event.message_id is None:
            word, count = json.loads(event.values)
            counts[word] = max(count, counts.get(word, 0))
    told = ", ".join(f"{word} {count}" for word, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])))
    write(f"\nCounted: {told}\n\n")


def _show(found: "Sequence[Lag]") -> None:
    rows: list[tuple[str, ...]] = [("topic", "partition", "earliest", "committed", "latest", "lag", "lost", "given up")]
    rows += [
        (
            each.topic,
            str(each.partition),
            str(each.earliest),
            _or_dash(each.committed),
            str(each.latest),
            _or_dash(each.lag),
            str(each.lost),
            str(each.given_up.count),
        )
        for each in found
    ]
    if len({each.topic for each in found}) == 1:
        rows = [row[1:] for row in rows]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    write("".join("  ".join(cell.rjust(width) for cell, width in zip(row, wide, strict=True)) + "\n" for row in rows))
    for each in found:
        if each.given_up.count:
            last = f"{each.topic}, partition {each.partition}: the last that was given up is message"
            write(f"{last} {each.given_up.offset}: {escape(each.given_up.why)}\n")


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"kafka lag: --client {text!r} is no setting; expected NAME=VALUE.")
    return name, value
