"""The topics of one task, each with its partitions: those that are named, or those that match a pattern.

Under a pattern topics come and go while the task runs: a new one is read from its beginning, one that is deleted is
left. Which there are is asked in a thread, as what their partitions are.
"""

from __future__ import annotations

import zlib
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.component.base import INFO, WARN
from multilang_cli.kafka.partitions import RETRIED_AFTER, AssignedPartitions
from multilang_cli.kafka.questions import Asker
from multilang_cli.kafka.reader import FailedFetchError, Reader
from multilang_cli.kafka.stores.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from multilang_cli.kafka.config import KafkaSettings
    from multilang_cli.kafka.stores.progress import ProgressOwner


class Topics:
    """Topics that task `place[0]` of `place[1]` tasks reads, each with clients, progress and a turn of its own.

    `log`: tells the worker's log a sentence, and its level. `away_since`: when it began to stay unknown which topics
    there are, None while that is answered. Raises KafkaConfigError if the settings make no sense.
    """

    def __init__(
        self, settings: KafkaSettings, owner: ProgressOwner, place: tuple[int, int], log: Callable[[str, int], None]
    ) -> None:
        self.away_since: float | None = None
        self._settings = settings
        self._owner = owner
        self._place = place
        self._log = log
        self._open: dict[str, AssignedPartitions] = {}
        self._turns: deque[AssignedPartitions] = deque()
        self._names = self._reader(settings.spout.pattern) if settings.spout.pattern else None
        self._asker: Asker[list[str]] = Asker()
        self._ask_at = 0.0
        self._looked = False
        self._closed = 0
        for number, topic in enumerate(settings.spout.topics):
            self._read(topic, number)
        if settings.spout.pattern:
            # What is wrong with settings is said before there is a topic.
            self._assigned(settings.spout.pattern, 0, new=False).close()

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[AssignedPartitions]:
        return iter(self._open.values())

    def get(self, topic: str) -> AssignedPartitions | None:
        """The partitions of a topic, None if it is not read."""
        return self._open.get(topic)

    def turn(self) -> AssignedPartitions | None:
        """The topic whose turn it is; None if there is none yet."""
        if not self._turns:
            return None
        self._turns.rotate(-1)
        return self._turns[-1]

    # --- a pattern ----------------------------------------------------------------------------------------------

    def follow(self, now: float) -> None:
        """Take an answer to which topics match, and ask anew where it is time. Raises FailedFetchError.

        Waits for it while there is no topic to be read.
        """
        if self._names is None:
            return
        if not self._asker.busy and now >= self._ask_at:
            self._asker.ask(self._names.matching)
        try:
            self._take(now)
            if not self._open:
                self._hear(self._names)
        except FailedFetchError:
            self._ask_at = now + RETRIED_AFTER
            self.away_since = self.away_since or now
            raise

    def _take(self, now: float) -> None:
        found = self._asker.answer(0 if self._open else self._settings.spout.poll)
        if found is not None:
            self.away_since = None
            self._ask_at = now + (self._settings.spout.refresh or float("inf"))
            self._apply(found)

    @staticmethod
    def _hear(names: Reader) -> None:
        """Raises FailedFetchError for what keeps the client from the brokers, long before the question is given up."""
        if trouble := names.fetch(0, 1).trouble:
            raise FailedFetchError(trouble)

    def failed(self, now: float) -> None:
        """A fetch failed, maybe of a topic that is no more: look soon which there are."""
        self._ask_at = min(self._ask_at, now + RETRIED_AFTER)

    def _apply(self, found: Sequence[str]) -> None:
        pattern, first = self._settings.spout.pattern, not self._looked
        self._looked = True
        gone = [name for name in self._open if name not in found]
        new = [name for name in found if name not in self._open]
        for name in gone:
            self._close(name)
            self._log(f"topic {name} is gone", WARN)
        for name in new:
            self._read(name, zlib.crc32(name.encode()), new=not first)
        if new:
            self._log(f"{'' if first else 'new: '}topics that match {pattern}: {', '.join(new)}", INFO)
        elif first or (gone and not self._open):
            self._log(f"no topic matches {pattern}", WARN)

    # --- one of them --------------------------------------------------------------------------------------------

    def _read(self, topic: str, shift: int, *, new: bool = False) -> None:
        self._open[topic] = self._assigned(topic, shift, new=new)
        self._turns.append(self._open[topic])

    def _assigned(self, topic: str, shift: int, *, new: bool) -> AssignedPartitions:
        """The partitions of a topic. `shift`: which task takes the first one; else the same would, of all topics."""
        config = msgspec.structs.replace(self._settings.spout, topic=topic)
        reader = self._reader(topic)
        index, total = self._place
        return AssignedPartitions(
            config,
            reader,
            open_store(config, self._owner, reader),
            ((index - shift) % total, total),
            partial(self._log_of, topic) if self._settings.spout.several else self._log,
            new=new,
            epoch=self._closed,
        )

    def _reader(self, topic: str) -> Reader:
        config = msgspec.structs.replace(self._settings.spout, topic=topic)
        return Reader(msgspec.structs.replace(self._settings, spout=config), self._owner)

    def _close(self, topic: str) -> None:
        """Leave a topic. What is still said of its tuples is of an older epoch than what a later one emits."""
        closed = self._open.pop(topic)
        self._turns.remove(closed)
        self._closed += 1
        closed.close()

    def _log_of(self, topic: str, text: str, level: int) -> None:
        self._log(f"topic {topic}: {text}", level)
