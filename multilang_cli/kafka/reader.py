"""The Kafka client of a spout: what it asks of confluent-kafka, each with a limit, and what its errors mean.

librdkafka fetches ahead in threads of its own; `Reader.fetch` takes what is there, and waits no longer than its limit.
The questions wait up to ASK seconds: they are for a thread of their own.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from multilang_cli.kafka.clients import QUIET, said
from multilang_cli.kafka.config import CLIENT, KafkaConfigError, matching
from multilang_cli.kafka.partition_manager import KafkaRecord
from multilang_cli.kafka.start import BrokerOffsets, Committed
from multilang_cli.kafka.stores.progress import CommitMetadata, ProgressError, ProgressOwner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from confluent_kafka.admin._metadata import ClusterMetadata

    from multilang_cli.kafka.config import KafkaSettings
    from multilang_cli.kafka.start import GivenUp

ASK = 3.0
"""Seconds that an answer is waited for."""
FAST = {"fetch.queue.backoff.ms": 10, "fetch.wait.max.ms": 50, "queued.min.messages": 20_000}
OUT_OF_RANGE = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})  # noqa: SLF001 (its name)


class FailedFetchError(Exception):
    """Kafka could not be asked, or does not have it: a sentence."""


class Fetched:
    """Result of a fetch: records by partition, partitions whose position is out of range, and an error, or ""."""

    def __init__(self) -> None:
        self.records: defaultdict[int, list[KafkaRecord]] = defaultdict(list)
        self.out_of_range: set[int] = set()
        self.trouble = ""


class Reader:
    """One consumer, with partitions assigned by hand: the group is used for its offsets alone.

    `given_up`: stored with the progress of each partition. `known_topic_id`: what the topic was called when that was
    last asked, "" for unknown. With a topic Kafka deletes what groups have committed of it; other stores keep it, and
    must tell the topic from one that was made anew. Raises KafkaConfigError if the client does not take its settings.
    """

    def __init__(self, settings: KafkaSettings, owner: ProgressOwner) -> None:
        spout = settings.spout
        self._spout = spout
        self._topic = spout.topic
        self._owner = owner
        self._metadata: ClusterMetadata | None = None
        self._stored: dict[int, int] = {}
        self._refused = ""
        self._trouble = self._cause = ""
        self.known_topic_id = ""
        self.given_up: Mapping[int, GivenUp] = {}
        servers = {"bootstrap.servers": spout.bootstrap_servers}
        ours = {
            **FAST,
            **settings.client,
            **servers,
            "group.id": spout.id,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "on_commit": self._committed,
            "error_cb": self._heard,
        }
        try:
            self._consumer = Consumer(ours, logger=QUIET)
            # What is asked of a consumer holds up its consume(): so another one is asked.
            self._asked = Consumer(ours, logger=QUIET)
            self._admin = AdminClient({**settings.client, **servers}, logger=QUIET)
        except (KafkaException, ValueError, TypeError) as error:
            raise KafkaConfigError(f"the Kafka client does not take the settings {CLIENT}*: {said(error)}") from None

    # --- asking -------------------------------------------------------------------------------------------------

    def matching(self) -> list[str]:
        """Names of the topics that match the settings' pattern; never the dead letters'. Raises FailedFetchError."""
        try:
            names = self._asked.list_topics(timeout=ASK).topics
        except KafkaException as error:
            raise FailedFetchError(said(error)) from None
        return [name for name in matching(self._spout.pattern, names) if name != self._spout.dead_letters]

    def partitions(self) -> list[int]:
        """The partitions of the topic. Raises FailedFetchError."""
        try:
            self._metadata = self._asked.list_topics(self._topic, ASK)
        except KafkaException as error:
            raise FailedFetchError(said(error)) from None
        topic = self._metadata.topics[self._topic]
        if topic.error is not None:
            raise FailedFetchError(f"topic {self._topic}: {said(topic.error)}")
        return sorted(topic.partitions)

    def leader(self, partition: int) -> tuple[str, int]:
        """Host and port of a partition's leader, as last heard; ("", 0) if there is none."""
        found = self._metadata
        place = None if found is None else found.topics[self._topic].partitions.get(partition)
        broker = None if found is None or place is None else found.brokers.get(place.leader)
        return ("", 0) if broker is None else (str(broker.host), broker.port)

    def seen(self, partition: int, at: int | None = None) -> BrokerOffsets:
        """The earliest and the latest offset; `at`: a timestamp in milliseconds. Raises FailedFetchError."""
        try:
            earliest, latest = self._asked.get_watermark_offsets(self._at(partition), ASK)
            found = None
            if at is not None:
                [answer] = self._asked.offsets_for_times([self._at(partition, at)], ASK)
                found = answer.offset if answer.offset >= 0 else None
        except KafkaException as error:
            raise FailedFetchError(f"partition {partition}: {said(error)}") from None
        return BrokerOffsets(earliest=earliest, latest=latest, at_time=found, topic_id=self.known_topic_id)

    def ends(self, partition: int) -> tuple[int, int]:
        """The earliest and the latest offset as last heard, without asking."""
        earliest, latest = self._consumer.get_watermark_offsets(self._at(partition), cached=True)
        return max(earliest, 0), max(latest, 0)

    def topic_id(self) -> str:
        """Id that tells the topic from one of the same name made later; "" if the broker does not tell."""
        try:
            asked = self._admin.describe_topics(TopicCollection([self._topic]), request_timeout=ASK)
            self.known_topic_id = str(asked[self._topic].result(ASK).topic_id)
        except (KafkaException, TimeoutError):
            return ""
        return self.known_topic_id

    # --- reading ------------------------------------------------------------------------------------------------

    def assign(self, positions: Mapping[int, int]) -> None:
        """Read these partitions from these offsets, and no others."""
        self._consumer.assign([self._at(*position) for position in positions.items()])

    def hold(self, partitions: Iterable[int], *, held: bool) -> None:
        """Fetch no more of these partitions for now; or again."""
        turn = self._consumer.pause if held else self._consumer.resume
        turn([self._at(partition) for partition in partitions])

    def fetch(self, limit: float, most: int) -> Fetched:
        """Take at most `most` messages of what was fetched, waiting at most `limit` seconds for the first."""
        found = Fetched()
        messages = self._consumer.consume(most, 0)
        if not messages and limit > 0:
            messages = self._consumer.consume(1, limit)
        for message in messages:
            error, partition = message.error(), message.partition()
            if error is None and partition is not None:
                found.records[partition].append(_record(message))
            elif error is None or error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 (its name)
                continue
            elif error.code() in OUT_OF_RANGE and partition is not None:
                found.out_of_range.add(partition)
            else:
                found.trouble = said(error)
        if self._trouble:
            found.trouble, self._trouble = self._trouble, ""
        return found

    def _heard(self, error: KafkaError) -> None:
        """That all brokers are down is said after, and in place of, what keeps the client from them."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 (its name)
            self._cause = said(error)
        self._trouble = self._cause or said(error)

    # --- progress in the consumer group -------------------------------------------------------------------------

    def load(self, partition: int) -> Committed | None:
        """Read the group's committed offset. Raises ProgressError."""
        try:
            [found] = self._asked.committed([self._at(partition)], ASK)
        except KafkaException as error:
            raise ProgressError(f"committed offsets: {said(error)}") from None
        if found.error is not None:
            raise ProgressError(f"committed offset of partition {partition}: {said(found.error)}")
        if found.offset == OFFSET_INVALID:
            return None
        owner = CommitMetadata.read(found.metadata)
        return Committed(found.offset, ours=owner.topologyId == self._owner.deployment, given_up=owner.givenUp)

    def store(self, offsets: Mapping[int, int]) -> None:
        """Begin to commit these offsets, with who did it as metadata. Raises ProgressError."""
        owner = CommitMetadata(self._owner.deployment, self._owner.task)
        places = [
            TopicPartition(self._topic, *each, metadata=owner.told(self.given_up.get(each[0])))
            for each in offsets.items()
        ]
        try:
            self._consumer.commit(offsets=places, asynchronous=True)
        except KafkaException as error:
            raise ProgressError(f"commit: {said(error)}") from None

    def stored(self) -> dict[int, int]:
        """Offsets committed since this was last asked; `fetch` hears of it. Raises ProgressError if some were not."""
        refused, self._refused = self._refused, ""
        if refused:
            raise ProgressError(refused)
        done, self._stored = self._stored, {}
        return done

    def _committed(self, error: KafkaError | None, places: list[TopicPartition]) -> None:
        for each in places:
            failed = error or each.error
            if failed is None:
                self._stored[each.partition] = each.offset
            else:
                self._refused = f"commit of partition {each.partition}: {said(failed)}"

    def close(self) -> None:
        """Leave; librdkafka's threads end."""
        self._consumer.close()

    def _at(self, partition: int, offset: int = OFFSET_INVALID) -> TopicPartition:
        return TopicPartition(self._topic, partition, offset)


def _record(message: Message) -> KafkaRecord:
    kind, timestamp = message.timestamp()
    offset = message.offset()
    return KafkaRecord(
        offset=-1 if offset is None else offset,
        value=message.value(),
        key=message.key(),
        timestamp=timestamp if kind else None,
        headers=_headers(message),
        partition=-1 if (partition := message.partition()) is None else partition,
        topic=message.topic() or "",
    )


def _headers(message: Message) -> tuple[tuple[str, str | bytes | None], ...]:
    found = message.headers() or ()
    return tuple(found.items() if isinstance(found, dict) else found)
