"""The settings of a Kafka spout: from the topology's conf, and from the command line over it.

In conf they are keys that begin with ``kafka.spout.``; on the command line ``NAME=VALUE`` without it. What begins with
``kafka.client.`` goes to librdkafka as it is: TLS, SASL, fetch sizes.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec

from multilang_cli.kafka.start import Strategy
from multilang_cli.terminal.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PREFIX = "kafka.spout."
CLIENT = "kafka.client."
OURS = frozenset(
    {"group.id", "enable.auto.commit", "auto.offset.reset", "enable.auto.offset.store", "bootstrap.servers"}
)
"""Settings of librdkafka that the spout decides."""

BATCH = 32
"""Messages that one next emits unless told, small ones in half a millisecond."""
Shape = TypeVar("Shape", bound=msgspec.Struct)
Positive = Annotated[int, msgspec.Meta(gt=0)]
Duration = Annotated[float, msgspec.Meta(ge=0)]
Factor = Annotated[float, msgspec.Meta(ge=1)]
CountOrUnlimited = Annotated[int, msgspec.Meta(ge=-1)]
PartitionNumbers = Annotated[tuple[Annotated[int, msgspec.Meta(ge=0)], ...], msgspec.Meta(min_length=1)]


def told(what: str) -> msgspec.Meta:
    """Describe a setting, for --help."""
    return msgspec.Meta(description=what)


class KafkaConfigError(ValueError):
    """A setting that is missing or makes no sense, in a sentence."""


class KafkaConfig(msgspec.Struct, frozen=True, kw_only=True, rename=lambda name: name.replace("_", ".")):
    """Settings of a Kafka spout. Times in seconds, sizes in bytes; what each is for is in its type, for --help."""

    bootstrap_servers: Annotated[str, told("Brokers to begin with, HOST:PORT with commas between.")]
    topic: Annotated[
        str,
        told("The topic to read, several with commas between, or ^PATTERN: each topic whose name begins so."),
    ]
    id: Annotated[
        str,
        told("Whose progress it is: the consumer group, or the last part of the path in a file store or in ZooKeeper."),
    ] = "mlcheck-kafka-spout"
    profile: Annotated[
        Literal["fixed", "storm-0.9.3"],
        told("fixed, or storm-0.9.3: as that release's KafkaSpout, with its traps."),
    ] = "fixed"
    guarantee: Annotated[
        Literal["at-least-once", "at-most-once", "none"],
        told(
            "at-least-once: stored when acked. at-most-once: stored before it is emitted. none: stored now "
            "and then. The last two emit without ids."
        ),
    ] = "at-least-once"
    stream: Annotated[str, told("The stream to emit on; empty for the default one.")] = ""
    scheme: Annotated[
        str,
        told(
            "What a message becomes: string or string:ENCODING, raw (base64), json or json:FIELD,FIELD, record or "
            "record:PART,PART, python:MODULE:FUNCTION."
        ),
    ] = "string"
    tombstones: Annotated[
        Literal["skip", "emit"],
        told("What becomes of null and empty messages: skip, passed over and done; emit, given to the scheme."),
    ] = "skip"
    partitions: Annotated[
        PartitionNumbers | None,
        told("A static list of partitions. Without it all are read, and asked for anew."),
    ] = None
    refresh: Annotated[
        Duration,
        told("Seconds between two looks at which topics and partitions there are; 0 for only after a failed fetch."),
    ] = 60.0
    start: Annotated[
        Strategy,
        told(
            "Where to begin: earliest, latest, uncommitted-earliest, uncommitted-latest or timestamp. The "
            "uncommitted ones go on from any stored progress, the others only from that of the same "
            "deployment."
        ),
    ] = "uncommitted-earliest"
    at: Annotated[int | None, told("With start=timestamp: milliseconds since 1970.")] = None
    force_from_start: Annotated[bool, told("With profile=storm-0.9.3: forceFromStart.")] = False
    max_behind: Annotated[
        Positive | None,
        told(
            "How many messages behind the end stored progress may be when a partition is opened; what is "
            "older is skipped, and said."
        ),
    ] = None
    max_uncommitted: Annotated[
        Positive,
        told("Messages of a partition that may be emitted and not stored as done."),
    ] = 10_000
    max_bytes: Annotated[
        Positive,
        told("Bytes of a partition's messages that may be emitted and not done."),
    ] = 64 * 1024 * 1024
    batch: Annotated[
        Positive | None,
        told(
            "Messages that one next may emit, within topology.max.spout.pending. Without it 32, and one with "
            "profile=storm-0.9.3."
        ),
    ] = None
    prefetch: Annotated[Positive, told("Messages taken from the client at once.")] = 1_000
    poll: Annotated[Duration, told("The longest that a next waits, in seconds.")] = 0.1
    commit: Annotated[Duration, told("Seconds between two commits of progress (stateUpdateIntervalMs).")] = 2.0
    progress: Annotated[str, told("Where progress is kept: group, file:FOLDER or zookeeper:HOSTS/ROOT.")] = "group"
    retry_initial: Annotated[
        Duration,
        told("Seconds until a failed message is emitted again for the first time."),
    ] = 0.0
    retry_multiplier: Annotated[Factor, told("By what each further delay is longer.")] = 2.0
    retry_longest: Annotated[Duration, told("The longest delay, in seconds.")] = 60.0
    retry_limit: Annotated[
        CountOrUnlimited,
        told("How often a message is emitted again before it is given up; -1 for always."),
    ] = -1
    given_up: Annotated[
        str,
        told("What becomes of a message that is given up, or that the scheme can't read: drop, or topic:NAME."),
    ] = "drop"
    unavailable: Annotated[
        Duration,
        told("Seconds without Kafka after which the process exits, for Storm to start it anew; 0 for never."),
    ] = 0.0
    metrics: Annotated[
        Duration,
        told("Seconds between two log lines with lag and counts of each partition; 0 for none."),
    ] = 60.0
    metric: Annotated[
        str,
        told("The name of a metric that the topology registered with Storm: it is told the same numbers."),
    ] = ""
    prometheus: Annotated[
        str,
        told(
            "A folder of node_exporter's textfile collector: each task keeps a file ID-TOPIC-TASK.prom with the same "
            "numbers there."
        ),
    ] = ""

    @property
    def a_next(self) -> int:
        """Messages that one next may emit: what costs is to ask, and each ack waits until a next is answered."""
        return self.batch or (1 if self.profile == "storm-0.9.3" else BATCH)

    @property
    def topics(self) -> tuple[str, ...]:
        """Names of the topics; none where a pattern says which."""
        return () if self.pattern else tuple(self.topic.split(","))

    @property
    def pattern(self) -> str:
        """The regular expression that names of topics match, from their beginning on; "" where they are named."""
        return self.topic if self.topic.startswith(PATTERN) else ""

    @property
    def several(self) -> bool:
        """True if there may be more topics than one: ids and sentences name theirs then."""
        return len(self.topics) != 1

    @property
    def dead_letters(self) -> str:
        """The topic for messages that are given up; "" if they are dropped."""
        return self.given_up.removeprefix("topic:") if self.given_up != "drop" else ""


class KafkaSettings(msgspec.Struct, frozen=True):
    """The spout's own settings, and librdkafka's."""

    spout: KafkaConfig
    client: dict[str, Any]


def read(conf: Mapping[str, Any], arguments: Sequence[str]) -> KafkaSettings:
    """The settings of a conf and a command line. Raises KafkaConfigError."""
    spout, client = parted(conf, arguments, PREFIX, OURS)
    return KafkaSettings(_checked(converted(spout, KafkaConfig, PREFIX)), client)


def parted(
    conf: Mapping[str, Any], arguments: Sequence[str], prefix: str, ours: frozenset[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings that begin with `prefix`, arguments over conf, and librdkafka's, without their prefixes.

    `ours`: those of librdkafka that the component decides. Raises KafkaConfigError.
    """
    told = {key: value for key, value in conf.items() if key.startswith((prefix, CLIENT))}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not equals:
            raise KafkaConfigError(f"{argument!r} is no setting; expected NAME=VALUE, such as topic=sentences")
        told[name if name.startswith((prefix, CLIENT)) else prefix + name] = _value(text)
    client = {key.removeprefix(CLIENT): value for key, value in told.items() if key.startswith(CLIENT)}
    for name in sorted(ours & client.keys()):
        raise KafkaConfigError(f"{CLIENT}{name} is decided by other settings: {prefix}*")
    return {key.removeprefix(prefix): value for key, value in told.items() if key.startswith(prefix)}, client


def converted(settings: Mapping[str, Any], shape: type[Shape], prefix: str) -> Shape:
    """The settings as `shape` has them. Raises KafkaConfigError."""
    fields = msgspec.structs.fields(shape)
    names = [field.encode_name for field in fields]
    for name in settings:
        if name not in names:
            hint = did_you_mean(name, names)
            raise KafkaConfigError(f"{prefix}{name} is no setting{hint if hint != '.' else '; --help shows all'}")
    for field in fields:
        if field.required and field.encode_name not in settings:
            raise KafkaConfigError(f"{prefix}{field.encode_name} is missing")
    try:
        return msgspec.convert(settings, shape, strict=False)
    except msgspec.ValidationError as error:
        raise KafkaConfigError(_sentence(str(error), prefix)) from None


def _value(text: str) -> Any:
    try:
        return json.loads(text) if text.startswith("[") else text
    except ValueError:
        return text


_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""Names that Kafka allows (``org.apache.kafka.common.internals.Topic``)."""


PATTERN = "^"
"""A topic that begins with this is a pattern, as in librdkafka: no name does."""
INTERNAL = "__"
"""Kafka's own topics begin with this."""


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """Names that begin as `pattern` says, in order; Kafka's own topics only where it says so itself.

    Raises KafkaConfigError if it is no regular expression.
    """
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise KafkaConfigError(f"{PREFIX}topic: {pattern!r} is no regular expression: {error}") from None
    own = pattern.startswith(PATTERN + INTERNAL)
    return sorted(name for name in names if found.match(name) and (own or not name.startswith(INTERNAL)))


def is_topic(name: str) -> bool:
    """True if Kafka allows this name for a topic."""
    return bool(_TOPIC.fullmatch(name)) and name not in (".", "..")


def _checked(config: KafkaConfig) -> KafkaConfig:
    matching(config.pattern, ())
    for name in config.topics:
        if not is_topic(name):
            raise KafkaConfigError(
                f"{PREFIX}topic: {name!r} is no topic's name (letters, digits, '.', '_' and '-', 249 at most); several "
                "have commas between, and a pattern begins with '^' and stands alone"
            )
    if len(set(config.topics)) < len(config.topics):
        raise KafkaConfigError(f"{PREFIX}topic: {config.topic!r} names a topic twice")
    if config.several and config.progress.startswith("zookeeper:"):
        raise KafkaConfigError(f"{PREFIX}progress: in ZooKeeper there is room for one topic; declare a spout for each")
    if config.start == "timestamp" and config.at is None:
        raise KafkaConfigError(f"{PREFIX}start is timestamp: {PREFIX}at must say which, in milliseconds since 1970")
    if config.prometheus and not config.metrics:
        raise KafkaConfigError(f"{PREFIX}metrics is 0, so nothing would be written for {PREFIX}prometheus")
    kind, _, topic = config.given_up.partition(":")
    if config.given_up != "drop" and (kind != "topic" or not topic.strip()):
        raise KafkaConfigError(f"{PREFIX}given.up names no topic; expected drop or topic:NAME")
    return config


def _sentence(said: str, prefix: str) -> str:
    """Msgspec's error about a setting, with the key as it stands in conf."""
    what, _, where = said.partition(" - at `$.")
    return f"{prefix}{where.rstrip('`')}: {what[0].lower()}{what[1:]}"
