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

HEAR = 0.1
"""Seconds that the thread waits for news at a time; it hears of them at once."""
TICK = ("__system", "__tick")


class KafkaBolt(Bolt):
    """Writes tuples to Kafka."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__()
        self._arguments = arguments
        self._writing = threading.RLock()
        self._troubles = Troubles(self.report_error)
        self._held: list[Tuple] = []

    def initialize(self, conf: dict[str, Json], context: dict[str, Json]) -> None:
        """Read the settings and make the producer, which connects by itself."""
        try:
            settings = read(conf, self._arguments)
            self._producer = _producer(settings)
        except KafkaConfigError as error:
            self.report_error(f"mlcheck-kafka-bolt: {error}")
            sys.stderr.write(f"mlcheck-kafka-bolt: {error}\n")
            raise SystemExit(2) from None
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
        heard = partial(self._heard, tup)
        until = time.monotonic() + self._config.patience
        while True:
            try:
                self._producer.produce(record.topic, record.value, record.key, on_delivery=heard)
            except BufferError:
                if time.monotonic() < until:
                    self._producer.poll(HEAR)
                    continue
                self._give_back(tup, f"{self._config.buffer} messages are under way and not written: the brokers lag")
            except KafkaException as error:
                self._give_back(tup, said(error))
            return

    # --- what became of it, in a thread -------------------------------------------------------------------------

    def _hear(self) -> None:
        while True:
            self._producer.poll(HEAR)

    def _heard(self, tup: Tuple, error: KafkaError | None, message: Message) -> None:
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


def _producer(settings: KafkaBoltSettings) -> Producer:
    """Raises KafkaConfigError."""
    bolt = settings.bolt
    told = {
        **settings.client,
        "bootstrap.servers": bolt.bootstrap_servers,
        "enable.idempotence": True,
        "message.timeout.ms": max(1, round(bolt.timeout * 1000)),
        "queue.buffering.max.messages": bolt.buffer,
    }
    try:
        return Producer(told, logger=QUIET)
    except (KafkaException, ValueError, TypeError) as error:
        raise KafkaConfigError(f"the Kafka client does not take the settings {CLIENT}*: {said(error)}") from None
