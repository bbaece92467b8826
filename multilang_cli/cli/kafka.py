"""``mlcheck kafka lag|demo``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import JSON
from multilang_cli.cli.options.table import REQUIRED, OptionTable, argument, option, text, texts

LAG: OptionTable = {
    "topic": argument(str, "TOPIC"),
    "servers": option(str, "--bootstrap-servers -b", "HOST:PORT", "Several with commas.", REQUIRED),
    "group": text("--id", "ID", "The spout's id: its consumer group.", "mlcheck-kafka-spout"),
    "client": texts("--client", "K=V", "A setting of librdkafka."),
    "as_json": JSON,
}
DEMO: OptionTable = {
    "messages": option(int, "--messages -n", None, "Words that are written.", 1000, least=1, most=10_000_000),
    "partitions": option(int, "--partitions", None, "Partitions of the topic.", 4, least=1, most=64),
    "tasks": option(int, "--tasks", None, "Tasks of the spout, and of the bolt.", 2, least=1, most=16),
    "record": text("--record", "DIR", "The folder of the run.", ".mlcheck/topology/kafka"),
}


@handled_by("kafka.console.lag:lag_given", options=LAG)
def lag() -> None:
    """Show how far a consumer group is behind on TOPIC, several with commas, or ^PATTERN; by partition."""


@handled_by("demo.kafka_demo:demo_given", options=DEMO)
def demo() -> None:
    """Start a Kafka broker, fill a topic, and run a topology that counts its words. Needs Java 17 and Maven."""
