"""``mlcheck kafka lag|demo``."""

from typing import Annotated

import typer

from multilang_cli.cli.options.as_json import Json
from multilang_cli.cli.options.handled import handled_by


@handled_by("kafka.console.lag:lag_given")
def lag(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", hidden=True)],
    servers: Annotated[
        str, typer.Option("--bootstrap-servers", "-b", metavar="HOST:PORT", help="Several with commas.")
    ],
    group: Annotated[
        str, typer.Option("--id", metavar="ID", help="The spout's id: its consumer group.")
    ] = "mlcheck-kafka-spout",
    client: Annotated[
        list[str] | None, typer.Option("--client", metavar="K=V", help="A setting of librdkafka.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Show how far a consumer group is behind on TOPIC, several with commas, or ^PATTERN; by partition."""


Messages = Annotated[int, typer.Option("--messages", "-n", min=1, max=10_000_000, help="Words that are written.")]
Partitions = Annotated[int, typer.Option("--partitions", min=1, max=64, help="Partitions of the topic.")]
Tasks = Annotated[int, typer.Option("--tasks", min=1, max=16, help="Tasks of the spout, and of the bolt.")]
Folder = Annotated[str, typer.Option("--record", metavar="DIR", help="The folder of the run.")]


@handled_by("demo.kafka_demo:demo_given")
def demo(
    messages: Messages = 1000, partitions: Partitions = 4, tasks: Tasks = 2, record: Folder = ".mlcheck/topology/kafka"
) -> None:
    """Start a Kafka broker, fill a topic, and run a topology that counts its words. Needs Java 17 and Maven."""
