"""``mlcheck-kafka-spout``: the shell spout itself (``KafkaSpout``), with its settings in conf or as NAME=VALUE.

What is decided stands in the pure parts, `partition_manager`, `coordinator` and `start`; `partitions` and `reader` have
them meet Kafka, and here they meet Storm. No call of Storm waits much longer than the poll limit, so that heartbeats
are safe while Kafka is away.
"""

from __future__ import annotations

import json
import math
import signal
import sys
import time
import uuid
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from multilang_cli.component.base import ERROR, WARN
from multilang_cli.component.spout import Spout
from multilang_cli.kafka.config import KafkaConfigError, read
from multilang_cli.kafka.given_up import DeadLetters
from multilang_cli.kafka.metrics import prometheus_text, write_prometheus
from multilang_cli.kafka.partition_manager import EmitState, MessageId, SchemeAwayError, TooManyFailuresError
from multilang_cli.kafka.partitions import RETRIED_AFTER
from multilang_cli.kafka.reader import FailedFetchError
from multilang_cli.kafka.scheme import OnStream
from multilang_cli.kafka.stores.progress import ProgressError, ProgressOwner
from multilang_cli.kafka.topics import Topics
from multilang_cli.kafka.troubles import Troubles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from multilang_cli.component.wire import Json
    from multilang_cli.kafka.partition_manager import PartitionManager, RefusedMessage
    from multilang_cli.kafka.partitions import AssignedPartitions

Argument = TypeVar("Argument")
SHORT_WAIT = 0.005
"""Seconds that a next waits at most while tuples are under way: their acks wait as long."""
MAX_PENDING = "topology.max.spout.pending"
LAST_COMMIT = 1.0
"""Seconds that a commit is waited for when Storm deactivates the spout."""


class KafkaSpout(Spout):
    """Reads the partitions of its task, and emits their messages."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._ready = False
        self._troubles = Troubles(partial(self.log, level=WARN))
        self._last_metrics = time.monotonic()
        self._waited_for = 0

    # --- Storm calls --------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Talk to Storm until it closes the pipe or ends the process; then store what is done."""
        signal.signal(signal.SIGTERM, _told_to_end)
        try:
            try:
                super().run()
            finally:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
        finally:
            if self._ready:
                self.deactivate()

    def initialize(self, conf: dict[str, Json], context: dict[str, Json]) -> None:
        """Read the settings and find this task's place; Kafka is asked from the first next on."""
        try:
            settings = read(conf, self._arguments)
            self._config = config = settings.spout
            self._task = _task(context)
            owner = ProgressOwner(
                str(conf.get("topology.name", "")), str(conf.get("storm.id") or uuid.uuid4()), self._task
            )
            self._dead_letters = DeadLetters(settings, partial(self.log, level=ERROR))
            self._topics = Topics(settings, owner, place(context), self.log)
        except KafkaConfigError as error:
            self.report_error(f"mlcheck-kafka-spout: {error}")
            sys.stderr.write(f"mlcheck-kafka-spout: {error}\n")
            raise SystemExit(2) from None
        self._tracked, self._several = config.guarantee == "at-least-once", config.several
        limit = conf.get(MAX_PENDING)
        self._limit = limit if isinstance(limit, int) and limit > 0 else math.inf
        self._ready = True

    def next_tuple(self) -> None:
        """Emit the tuples of a batch of messages; then fetch what is missing (``KafkaSpout.nextTuple``).

        Of several topics each has its turn.
        """
        now = time.monotonic()
        self._try(None, self._topics.follow, now)
        partitions = self._topics.turn()
        if partitions is not None:
            self._work(partitions, now)
        self._dead_letters.work()
        self._leave_if_away(self._topics if partitions is None else partitions, now)
        if self._config.metrics and now - self._last_metrics >= self._config.metrics:
            self._last_metrics = now
            self._tell_metrics()

    def _work(self, partitions: AssignedPartitions, now: float) -> None:
        """A turn of one topic. While it is idle it holds up the others: all of them may wait as long as one."""
        self._try(partitions, partial(partitions.follow, now), self._config.poll / len(self._topics))
        emitted = self._emit_some(partitions, now)
        if not emitted:
            self._try(partitions, partitions.fetch, self._patience(now))
            self._emit_some(partitions, now)
        elif not partitions.ready:
            self._try(partitions, partitions.fetch, 0)
        self._try(partitions, partitions.commit, now)

    def ack(self, id: Json) -> None:  # noqa: A002 - Storm's own word
        """A tuple was processed to its end."""
        self._waited_for -= 1
        manager, message_id = self._found(id)
        if manager is not None and message_id is not None:
            manager.ack(message_id)

    def fail(self, id: Json) -> None:  # noqa: A002 - Storm's own word
        """A tuple failed, or was not processed in time."""
        self._waited_for -= 1
        manager, message_id = self._found(id)
        if manager is None or message_id is None:
            return
        try:
            given_up = manager.fail(message_id, time.monotonic())
        except TooManyFailuresError as error:
            self.report_error(str(error))
            raise SystemExit(1) from None
        if given_up is not None:
            self._dead_letters.take(manager, given_up)

    def deactivate(self) -> None:
        """Store what is done: the topology may end now."""
        until = time.monotonic() + LAST_COMMIT
        self._dead_letters.work(LAST_COMMIT)
        self._dead_letters.tell_unwritten()
        for each in self._topics:
            self._try(each, each.commit_now, lambda: time.monotonic() < until)

    # --- messages -----------------------------------------------------------------------------------------------

    def _emit_some(self, partitions: AssignedPartitions, now: float) -> bool:
        """Emit a batch of messages if there are so many, and Storm may wait for so many; False if there was none."""
        name = f"{partitions.topic}:" if self._several else ""
        for sent in range(self._config.a_next):
            # Storm looks at its limit before it asks, and not at what one answer brings.
            if sent and self._waited_for >= self._limit:
                return True
            try:
                turn = partitions.next(now)
            except SchemeAwayError as error:
                self._stall(partitions, str(error))
                return sent > 0
            if turn.refused is not None:
                self._refuse(partitions, turn.refused)
            elif turn.state is EmitState.NO_EMITTED:
                return sent > 0
            self._waited_for += len(turn.tuples) if self._tracked else 0
            for stream, tuples in groupby(turn.tuples, self._stream_of):
                told = ((values, f"{name}{id_}" if self._tracked else None) for values, id_ in tuples)
                self.emit_all(told, stream or None)
        return True

    def _stall(self, partitions: AssignedPartitions, why: str) -> None:
        """The clock is asked anew: the question that failed may have taken long, and Storm waits for each."""
        now = time.monotonic()
        partitions.stall(now + RETRIED_AFTER)
        self._troubles.tell(why, now)

    def _stream_of(self, tuple_: tuple[list[Any], MessageId]) -> str:
        values = tuple_[0]
        return values.stream if isinstance(values, OnStream) else self._config.stream

    def _refuse(self, partitions: AssignedPartitions, refused: RefusedMessage) -> None:
        manager = partitions.manager(refused.partition)
        if manager is not None:
            self._dead_letters.take(manager, refused)

    def _patience(self, now: float) -> float:
        """Seconds that this next may still wait: nobody acks in the meantime."""
        if any(each.ready for each in self._topics):
            return 0.0
        poll = self._config.poll / len(self._topics)
        longest = min(poll, SHORT_WAIT) if any(each.pending for each in self._topics) else poll
        return max(0.0, longest - (time.monotonic() - now))

    def _found(self, id_: Json) -> tuple[PartitionManager | None, MessageId | None]:
        topic, text = self._config.topic, str(id_)
        if self._several:
            topic, _, text = text.partition(":")
        partitions, message_id = self._topics.get(topic), MessageId.read(text)
        if partitions is None or message_id is None:
            return None, None
        return partitions.manager(message_id.partition), message_id

    # --- for people ---------------------------------------------------------------------------------------------

    def _try(self, partitions: AssignedPartitions | None, work: Callable[[Argument], None], argument: Argument) -> None:
        """Do what Kafka may be missing for; the rest goes on."""
        try:
            work(argument)
        except FailedFetchError as error:
            now = time.monotonic()
            if partitions is not None:
                partitions.failed()
                self._topics.failed(now)
            self._troubles.tell(str(error), now)
        except ProgressError as error:
            self._troubles.tell(str(error), time.monotonic())

    def _tell_metrics(self) -> None:
        config = self._config
        numbers: dict[str, Any] = {}
        for partitions in self._topics:
            topic, found = partitions.topic, partitions.metrics()
            name = f"{topic}/" if self._several else ""
            numbers |= {f"{name}partition_{number}": msgspec.to_builtins(each) for number, each in found.items()}
            if config.prometheus:
                labels = {"id": config.id, "topic": topic, "task": str(self._task)}
                self._write_prometheus(labels, prometheus_text(labels, found))
        self.log(f"kafka {json.dumps(numbers)}")
        if config.metric:
            self.metric(config.metric, numbers)

    def _write_prometheus(self, labels: Mapping[str, str], text: str) -> None:
        folder = self._config.prometheus
        try:
            write_prometheus(folder, labels, text)
        except OSError as error:
            self._troubles.tell(f"{folder}: {error.strerror} (kafka.spout.prometheus)", time.monotonic())

    def _leave_if_away(self, asked: AssignedPartitions | Topics, now: float) -> None:
        """Kafka does not answer: go on trying, or leave it to Storm, which starts anew what exits."""
        if not self._config.unavailable or asked.away_since is None:
            return
        gone = now - asked.away_since
        if gone > self._config.unavailable:
            self.log(f"no Kafka for {gone:.0f} s: exiting, as kafka.spout.unavailable says", ERROR)
            raise SystemExit(1)


def _told_to_end(number: int, frame: object) -> None:
    """Once is enough: Storm may repeat it, and what is done is being stored then."""
    del frame
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


def place(context: dict[str, Any]) -> tuple[int, int]:
    """The index of this task among the tasks of its component, and how many there are; alone if nobody tells."""
    tasks = context.get("task->component") or {}
    own = str(_task(context))
    name = tasks.get(own)
    peers = sorted(int(task) for task, component in tasks.items() if component == name and name is not None)
    return (peers.index(int(own)), len(peers)) if peers else (0, 1)


def _task(context: dict[str, Any]) -> int:
    task = context.get("taskid")
    return task if isinstance(task, int) else 0
