"""``mlcheck-kafka-bolt``: the shell bolt itself, with its settings in conf or as NAME=VALUE.

A tuple is acked when the brokers have confirmed its message, and failed when they never will. A thread hears of that,
so that acks wait for no further tuple and heartbeats for no broker.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException, Producer

from multilang_cli.component.bolt import Bolt
from multilang_cli.kafka.bolt.config import read
from multilang_cli.kafka.bolt.mapping import MappingError, record_of
from multilang_cli.kafka.clients import QUIET, said
from multilang_cli.kafka.config import CLIENT, KafkaConfigError
from multilang_cli.kafka.troubles import Troubles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confluent_kafka import Message

    from multilang_cli.component.bolt import Tuple
    from multilang_cli.component.wire import Json
    from multilang_cli.kafka.bolt.config import KafkaBoltSettings
    from multilang_cli.kafka.bolt.mapping import OutgoingRecord

HEAR = 0.1
"""Seconds that the thread waits for news at a time; it hears of them at once."""
UNKNOWN_TOPIC = 5.0
"""Seconds in which a topic may come to be known, half of the time-out at most; librdkafka's own 30 are Storm's, too."""
TICK = ("__system", "__tick")


class KafkaBolt(Bolt):
    """Writes tuples to Kafka."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__()
        self._arguments = arguments
        self._writing = threading.RLock()
        self._troubles = Troubles(self.report_error)
        self._held: list[Tuple] = []
        self._alone: Producer | None = None

    def initialize(self, conf: dict[str, Json], context: dict[str, Json]) -> None:
        """Read the settings and make the producer, which connects by itself."""
        try:
            settings = read(conf, self._arguments)
            self._producer = _producer(settings, error_cb=self._away)
        except KafkaConfigError as error:
            self.report_error(f"mlcheck-kafka-bolt: {error}")
            sys.stderr.write(f"mlcheck-kafka-bolt: {error}\n")
            raise SystemExit(2) from None
        self._settings = settings
        self._config = settings.bolt
        self._fields: dict[str, Any] = context.get("source->stream->fields") or {}
        threading.Thread(target=self._hear, name="kafka deliveries", daemon=True).start()

    def process(self, tup: Tuple) -> None:
        """Write a tuple, or keep it for its batch; a tick writes what is kept."""
        tick = (tup.comp, tup.stream) == TICK
        if not tick:
            self._held.append(tup)
        if tick or len(self._held) >= self._config.batch:
            held, self._held = self._held, []
            for each in held:
                self._produce(each)
        if tick:
            self.ack(tup)

    def _produce(self, tup: Tuple) -> None:
        fields = (self._fields.get(tup.comp or "") or {}).get(tup.stream) or ()
        try:
            record = record_of(self._config, fields, tup.values)
        except MappingError as error:
            self._give_back(tup, str(error))
            return
        heard = partial(self._heard, tup, record)
        until = time.monotonic() + self._config.patience
        while True:
            try:
                self._producer.produce(record.topic, record.value, record.key, on_delivery=heard)
            except BufferError:
                if (left := until - time.monotonic()) > 0:
                    self._producer.poll(min(HEAR, left))
                    continue
                self._give_back(tup, f"{self._config.buffer} messages are under way and not written: the brokers lag")
            except KafkaException as error:
                self._give_back(tup, said(error))
            return

    # --- what became of it, in a thread -------------------------------------------------------------------------

    def _hear(self) -> None:
        while True:
            self._producer.poll(HEAR)
            if self._alone is not None:
                self._alone.poll(0)

    def _heard(self, tup: Tuple, record: OutgoingRecord, error: KafkaError | None, message: Message) -> None:
        if error is not None and error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            # Brokers refuse a whole batch for one message in it.
            self._write_alone(tup, record)
        else:
            self._ended(tup, error, message)

    def _away(self, error: KafkaError) -> None:
        """Say at once that no broker answers, and why: tuples that wait for it may time out in Storm."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 (its name)
            self._troubles.tell(f"not written yet: {said(error)}", time.monotonic())

    def _write_alone(self, tup: Tuple, record: OutgoingRecord) -> None:
        """By a producer of its own, each of whose batches is one message: who is too large is known then."""
        try:
            with self._writing:
                self._alone = self._alone or _producer(self._settings, **{"batch.num.messages": 1})
            self._alone.produce(record.topic, record.value, record.key, on_delivery=partial(self._ended, tup))
        except (BufferError, KafkaException) as error:
            self._give_back(tup, said(error))

    def _ended(self, tup: Tuple, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.ack(tup)
            return
        self._give_back(tup, f"topic {message.topic()}: {said(error)}")
        if error.fatal() or error.code() == KafkaError._FATAL:  # noqa: SLF001 (its name)
            # This producer writes nothing any more; Storm starts a new one.
            os._exit(1)

    def _give_back(self, tup: Tuple, why: str) -> None:
        self._troubles.tell(f"not written, and failed: {why}", time.monotonic())
        self.fail(tup)

    def _write(self, message: Json, *, more: bool = False) -> None:
        with self._writing:
            super()._write(message, more=more)


def _producer(settings: KafkaBoltSettings, **more: Any) -> Producer:
    """Raises KafkaConfigError."""
    bolt = settings.bolt
    told = {
        "topic.metadata.propagation.max.ms": max(1, round(min(UNKNOWN_TOPIC, bolt.timeout / 2) * 1000)),
        **settings.client,
        **more,
        "bootstrap.servers": bolt.bootstrap_servers,
        "enable.idempotence": True,
        "message.timeout.ms": max(1, round(bolt.timeout * 1000)),
        "queue.buffering.max.messages": bolt.buffer,
    }
    try:
        return Producer(told, logger=QUIET)
    except (KafkaException, ValueError, TypeError) as error:
        raise KafkaConfigError(f"the Kafka client does not take the settings {CLIENT}*: {said(error)}") from None
