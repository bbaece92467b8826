"""Kafka topic of the tap: the lines of a transcript as messages, with the conversation's id as key.

A Kafka that is slow, or down, costs the recording a gap and nobody anything else: lines wait in a queue of a bounded
size, of the recorder's own process.
"""

from __future__ import annotations

import errno
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException, Producer

from multilang_cli.tap.files import Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from confluent_kafka import KafkaError, Message

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.tap.files import Snapshot
    from multilang_cli.tap.plan import TapPlan
    from multilang_cli.transcript.format import Header
    from multilang_cli.transcript.write import Sink

QUEUE_KIB = 64 * 1024
"""What waits for Kafka at most."""
QUEUE_LINES = 1_000_000
FLUSHED_WITHIN = 20.0
"""Seconds in which Kafka must take what is left at the end."""
_SETTINGS: dict[str, str | int | float | bool] = {
    "enable.idempotence": True,
    "linger.ms": 50,
    "queue.buffering.max.kbytes": QUEUE_KIB,
    "queue.buffering.max.messages": QUEUE_LINES,
}
_QUIET = logging.getLogger("mlcheck.tap")
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


class Topic(Parts):
    """All messages of a conversation, in parts as files have them, one line a message."""

    _flush_at = 1

    def __init__(self, header: Header, plan: TapPlan) -> None:
        servers, _, topic = plan.kafka.rpartition("/")
        self._lines = Lines(servers, topic, header.conv.encode())
        super().__init__(header, Path(plan.kafka), plan)

    def take(self, events: Sequence[Event], snapshot: Callable[[], Snapshot]) -> None:
        """Add events, each at once: so it is known exactly how many there was no room for."""
        for event in events:
            super().take([event], snapshot)

    def reopen(self, snapshot: Snapshot) -> None:
        """Try again with a new part; what Kafka never took is lost as well."""
        self.lost += self._lines.missed()
        number = self._number
        try:
            super().reopen(snapshot)
        except OSError:
            self._number = number  # a part that Kafka did not take is none
            raise

    def close(self, t: float) -> None:
        """Write the end, and wait until Kafka has it all, or for a bounded time."""
        super().close(t)
        undelivered = self._lines.last(FLUSHED_WITHIN)
        if undelivered and not self.failed:
            self.failed = f"{self.path}: Kafka did not take the last {undelivered} lines"

    def _named(self, number: int) -> Path:
        del number
        return Path(self._plan.kafka)

    def _new(self) -> Sink:
        return self._lines

    def _drop(self, number: int) -> None:
        """Keep everything: what is in a topic is Kafka's to drop."""


class Lines:
    """A topic as a file that lines are written to. Raises OSError when its queue is full, or lines did not arrive."""

    def __init__(self, servers: str, topic: str, key: bytes) -> None:
        self._topic = topic
        self._key = key
        self._undelivered = 0
        self._why = ""
        self._producer = Producer(
            {**_SETTINGS, "bootstrap.servers": servers}, logger=_QUIET, on_delivery=self._delivered
        )

    @property
    def closed(self) -> bool:
        """Never: there is nothing to close."""
        return False

    def write(self, data: bytes | memoryview, /) -> int:
        """Take whole lines."""
        for line in bytes(data).splitlines():
            try:
                self._producer.produce(self._topic, line, self._key)
            except BufferError:
                raise OSError(errno.ENOBUFS, "Kafka takes nothing, and the queue is full") from None
            except KafkaException as error:
                raise OSError(errno.EIO, str(error)) from None
        self.flush()
        return len(data)

    def flush(self) -> None:
        """See what became of lines that were sent."""
        self._producer.poll(0)
        if self._undelivered:
            raise OSError(errno.EIO, f"{self._undelivered} lines did not reach Kafka: {self._why}")

    def close(self) -> None:
        """Nothing: a part ended, the topic goes on."""

    def missed(self) -> int:
        """Lines that did not arrive since this was asked last. What still waits is delivered before what comes."""
        self._producer.poll(0)  # what was delivered leaves the queue only then
        count, self._undelivered = self._undelivered, 0
        return count

    def last(self, seconds: float) -> int:
        """Wait until everything is delivered; how many lines are not."""
        return self._producer.flush(seconds) + self._undelivered

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        del message
        if error is not None:
            self._undelivered += 1
            self._why = error.str()
