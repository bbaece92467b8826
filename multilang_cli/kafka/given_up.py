"""Messages that are given up: dropped, or written to a dead-letter topic with the reason.

It is done when it is dropped, or when the broker has confirmed that it is written: progress never passes a dead letter
that could still be lost.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException, Producer

from multilang_cli.kafka.clients import QUIET, said
from multilang_cli.kafka.config import CLIENT, KafkaConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from confluent_kafka import KafkaError, Message

    from multilang_cli.kafka.config import KafkaSettings
    from multilang_cli.kafka.partition_manager import PartitionManager, RefusedMessage


class DeadLetters:
    """Takes messages that are given up, and says in `log` what became of each. Raises KafkaConfigError."""

    def __init__(self, settings: KafkaSettings, log: Callable[[str], None]) -> None:
        self._topic = settings.spout.dead_letters
        self._several = settings.spout.several
        self._log = log
        self._waiting: deque[tuple[PartitionManager, RefusedMessage]] = deque()
        self._under_way: list[RefusedMessage] = []
        self._told: set[str] = set()
        try:
            told = {**settings.client, "bootstrap.servers": settings.spout.bootstrap_servers}
            # Brokers refuse a whole batch for one message in it.
            told["batch.num.messages"] = 1
            self._producer = Producer(told, logger=QUIET) if self._topic else None
        except (KafkaException, ValueError, TypeError) as error:
            raise KafkaConfigError(f"the Kafka client does not take the settings {CLIENT}*: {said(error)}") from None

    def _what(self, refused: RefusedMessage) -> str:
        topic = f"topic {refused.record.topic}, " if self._several else ""
        return f"given up: {topic}partition {refused.partition}: message {refused.record.offset}: {refused.why}"

    def take(self, manager: PartitionManager, refused: RefusedMessage) -> None:
        """Put a message aside."""
        if self._producer is None:
            self._done(manager, refused, "dropped")
        else:
            self._waiting.append((manager, refused))
            self.work()

    def work(self, limit: float = 0.0) -> None:
        """Write what waits, and hear what was written; waits at most `limit` seconds for that."""
        if self._producer is None or not (self._waiting or self._under_way):
            return
        for _ in range(len(self._waiting)):
            if not self._write(self._producer, *self._waiting.popleft()):
                break
        if limit:
            self._producer.flush(limit)
        self._producer.poll(0)

    def tell_unwritten(self) -> None:
        """Say once of each message that is not written yet: the process may end now, and nobody hear of it."""
        for refused in (*(refused for _, refused in self._waiting), *self._under_way):
            self._tell(refused, f"is not written to topic {self._topic} yet")

    def _write(self, producer: Producer, manager: PartitionManager, refused: RefusedMessage) -> bool:
        record = refused.record
        headers: list[tuple[str, str | bytes | None]] = [
            *record.headers,
            ("mlcheck.topic", record.topic),
            ("mlcheck.partition", str(refused.partition)),
            ("mlcheck.offset", str(record.offset)),
            ("mlcheck.why", refused.why),
        ]
        if record.timestamp is not None:
            headers.append(("mlcheck.timestamp", str(record.timestamp)))
        heard = partial(self._heard, manager, refused)
        try:
            producer.produce(self._topic, record.value, record.key, headers=headers, on_delivery=heard)
        except BufferError:
            self._waiting.append((manager, refused))
            return False
        except KafkaException as error:
            # Such as a message that is too large with its headers: it may be tried for ever.
            self._waiting.append((manager, refused))
            self._tell(refused, self._not_taken(error))
            return False
        self._under_way.append(refused)
        return True

    def _heard(
        self, manager: PartitionManager, refused: RefusedMessage, error: KafkaError | None, message: Message
    ) -> None:
        del message
        self._under_way.remove(refused)
        if error is None:
            self._done(manager, refused, f"written to topic {self._topic}{self._ids(refused)}")
            return
        self._waiting.append((manager, refused))
        self._tell(refused, self._not_taken(error))

    def _ids(self, refused: RefusedMessage) -> str:
        """The message ids of its tuples, as Storm has them: by these it is known to be no loss."""
        topic = f"{refused.record.topic}:" if self._several else ""
        ids = ", ".join(f"{topic}{each}" for each in refused.ids)
        return ids and f" (message id{'s' * (len(refused.ids) > 1)} {ids})"

    def _not_taken(self, error: KafkaError | KafkaException) -> str:
        return f"topic {self._topic} does not take it, and it waits: {said(error)}"

    def _tell(self, refused: RefusedMessage, why: str) -> None:
        """Say once of each message why it waits."""
        what = self._what(refused)
        if what not in self._told:
            self._told.add(what)
            self._log(f"{what}: {why}")

    def _done(self, manager: PartitionManager, refused: RefusedMessage, what: str) -> None:
        manager.settle(refused.record.offset)
        self._told.discard(self._what(refused))
        self._log(f"{self._what(refused)}: {what}")
