"""The settings of a Kafka bolt: from the topology's conf, and from the command line over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from multilang_cli.kafka.config import Duration, KafkaConfigError, Positive, converted, is_topic, parted, told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PREFIX = "kafka.bolt."
OURS = frozenset({"enable.idempotence", "message.timeout.ms", "queue.buffering.max.messages", "bootstrap.servers"})
"""Settings of librdkafka that the bolt decides."""
TIMEOUT = 30.0
MESSAGE_TIMEOUT = "topology.message.timeout.secs"
TICKS = "topology.tick.tuple.freq.secs"


class KafkaBoltConfig(msgspec.Struct, frozen=True, kw_only=True, rename=lambda name: name.replace("_", ".")):
    """Settings of a Kafka bolt. Times in seconds; what each is for is in its type, for --help."""

    bootstrap_servers: Annotated[str, told("Brokers to begin with, HOST:PORT with commas between.")]
    topic: Annotated[str, told("The topic to write to, where topic.field names none.")] = ""
    topic_field: Annotated[
        str, told("The field of a tuple that names its topic; or its position, from 0. Empty: all go to topic.")
    ] = ""
    message_field: Annotated[
        str,
        told("The field of a tuple that is the message; or its position. A text goes as UTF-8, null as a tombstone."),
    ] = "message"
    key_field: Annotated[
        str, told("The field that is the key; or its position. Tuples without such a field have no key.")
    ] = "key"
    batch: Annotated[
        Positive, told("Tuples that are written together, sooner at a tick. Above 1 the topology must send ticks.")
    ] = 1
    buffer: Annotated[
        Positive, told("Messages that may be under way to the brokers. What comes beyond waits, and then fails.")
    ] = 10_000
    patience: Annotated[
        Duration, told("Seconds that a tuple waits for room in the buffer until it is failed, for Storm to replay it.")
    ] = 1.0
    timeout: Annotated[
        Annotated[float, msgspec.Meta(gt=0)],
        told(
            "Seconds for a message to be written, with all attempts, until its tuple is failed. By default no longer "
            "than topology.message.timeout.secs."
        ),
    ] = TIMEOUT


class KafkaBoltSettings(msgspec.Struct, frozen=True):
    """The bolt's own settings, and librdkafka's."""

    bolt: KafkaBoltConfig
    client: dict[str, Any]


def read(conf: Mapping[str, Any], arguments: Sequence[str]) -> KafkaBoltSettings:
    """The settings of a conf and a command line. Raises KafkaConfigError."""
    own, client = parted(conf, arguments, PREFIX, OURS)
    if "timeout" not in own and isinstance(given_up := conf.get(MESSAGE_TIMEOUT), int | float) and given_up > 0:
        # Later, Storm has given the tuple up, and nobody hears why it failed.
        own["timeout"] = min(TIMEOUT, given_up)
    config = converted(own, KafkaBoltConfig, PREFIX)
    if not config.topic and not config.topic_field:
        raise KafkaConfigError(f"{PREFIX}topic is missing: where do messages go? Or {PREFIX}topic.field names a field")
    if config.topic and not is_topic(config.topic):
        raise KafkaConfigError(f"{PREFIX}topic: {config.topic!r} is no topic's name")
    if config.batch > 1 and not conf.get(TICKS):
        raise KafkaConfigError(
            f"{PREFIX}batch is {config.batch}, and there are no ticks: what is fewer would wait for ever. Set {TICKS} "
            "in the bolt's conf"
        )
    return KafkaBoltSettings(config, client)
