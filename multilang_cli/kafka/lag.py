"""Lag of a consumer group on topics, asked from outside: the spout need not run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec
from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition

from multilang_cli.kafka.clients import QUIET, said
from multilang_cli.kafka.config import PATTERN, KafkaConfigError, matching
from multilang_cli.kafka.start import GivenUp
from multilang_cli.kafka.stores.progress import CommitMetadata

if TYPE_CHECKING:
    from collections.abc import Mapping


ASKED_AGAIN_AFTER = 0.1
"""Seconds until a broker is asked again."""
_NOT_READY = frozenset(
    {KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE}
)
"""What a broker says that has only begun, or has just handed a group over; not all of it is retriable to librdkafka."""


class LagError(Exception):
    """Kafka can't say: a sentence."""


class Lag(msgspec.Struct, frozen=True, kw_only=True):
    """One partition: offsets, the next to be read each. `committed` None: nothing yet; `lag`: None then.

    `lost`: offsets between what is committed and the earliest that is still there: deleted unread. `given_up`: messages
    that the spout gave up until then, with the last one's offset and why.
    """

    topic: str
    partition: int
    earliest: int
    latest: int
    committed: int | None
    lag: int | None
    lost: int
    given_up: GivenUp = GivenUp()


def lag_of(servers: str, topic: str, group: str, client: Mapping[str, str], limit: float) -> list[Lag]:
    """The lag of each partition of `topic`, which may name several, or be a pattern, as the spout's setting.

    `client`: settings of librdkafka; `limit` in seconds. Raises LagError.
    """
    settings = {**client, "bootstrap.servers": servers, "group.id": group, "enable.auto.commit": False}
    try:
        consumer = Consumer(settings, logger=QUIET)
    except (KafkaException, ValueError, TypeError) as error:
        raise LagError(f"the client does not take these settings: {error}") from None
    try:
        names = _topics(consumer, topic, limit)
        return [lag for name in names for lag in _asked(consumer, name, limit)]
    except KafkaException as error:
        raise LagError(f"{servers}: {said(error)}") from None
    finally:
        consumer.close()


def _topics(consumer: Consumer, topic: str, limit: float) -> list[str]:
    if not topic.startswith(PATTERN):
        return topic.split(",")
    try:
        found = matching(topic, consumer.list_topics(timeout=limit).topics)
    except KafkaConfigError as error:
        raise LagError(str(error)) from None
    if not found:
        raise LagError(f"no topic matches {topic}")
    return found


def _committed(consumer: Consumer, places: list[TopicPartition], limit: float) -> list[TopicPartition]:
    """Ask what the group has committed, again where the broker is not ready for that yet."""
    until = time.monotonic() + limit
    while True:
        try:
            return consumer.committed(places, limit)
        except KafkaException as error:
            again = error.args[0].retriable() or error.args[0].code() in _NOT_READY
            if not again or time.monotonic() > until:
                raise
        time.sleep(ASKED_AGAIN_AFTER)


def _asked(consumer: Consumer, topic: str, limit: float) -> list[Lag]:
    found = consumer.list_topics(topic, limit).topics[topic]
    if found.error is not None:
        raise LagError(f"topic {topic}: {said(found.error)}")
    places = [TopicPartition(topic, number) for number in sorted(found.partitions)]
    lags = []
    for place in _committed(consumer, places, limit):
        earliest, latest = consumer.get_watermark_offsets(TopicPartition(topic, place.partition), limit)
        committed = None if place.offset == OFFSET_INVALID else place.offset
        lags.append(
            Lag(
                topic=topic,
                partition=place.partition,
                earliest=earliest,
                latest=latest,
                committed=committed,
                lag=None if committed is None else max(0, latest - max(committed, earliest)),
                lost=0 if committed is None else max(0, earliest - committed),
                given_up=CommitMetadata.read(place.metadata).givenUp,
            )
        )
    return lags
