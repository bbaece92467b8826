"""The partitions of one task: opened, filled, followed when the topic changes; their progress stored.

Nothing here waits for Kafka but `fetch`, which takes a limit: what may take long is asked for in a thread.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from multilang_cli.component.base import INFO, WARN
from multilang_cli.kafka import questions, scheme, start
from multilang_cli.kafka.coordinator import Coordinator
from multilang_cli.kafka.metrics import metrics_of
from multilang_cli.kafka.partition_manager import NOTHING, EmitState, PartitionManager, Turn
from multilang_cli.kafka.questions import Asker, KnownTopic, StartFactsFound
from multilang_cli.kafka.reader import FailedFetchError
from multilang_cli.kafka.retry import Backoff
from multilang_cli.kafka.start import GivenUp, Start

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from multilang_cli.kafka.config import KafkaConfig
    from multilang_cli.kafka.metrics import PartitionMetrics
    from multilang_cli.kafka.partition_manager import KafkaRecord
    from multilang_cli.kafka.questions import StartFacts
    from multilang_cli.kafka.reader import Reader
    from multilang_cli.kafka.stores.progress import Store

COMMITS_APART = 0.05
"""Seconds between two commits where what may be uncommitted is nearly used up."""
RETRIED_AFTER = 0.5
"""Seconds until what could not be answered is asked again."""
LONGEST_REASON = 200
"""Characters of a reason that are stored: Kafka takes 4096 bytes of metadata."""
UNKNOWN = -1
"""Where nothing usable is stored: the start itself is stored then."""


class AssignedPartitions:
    """The partitions of one topic that task `index` of `total` tasks reads.

    `log`: tells the worker's log a sentence, and its level. `new`: the topic was made while the task runs. `epoch`: in
    ids of tuples, which a topic of this name that was deleted before must not share.
    `away_since`: when questions to Kafka began to stay without an answer, None while it answers.
    """

    def __init__(
        self,
        config: KafkaConfig,
        reader: Reader,
        store: Store,
        place: tuple[int, int],
        log: Callable[[str, int], None],
        *,
        new: bool = False,
        epoch: int = 0,
    ) -> None:
        self.away_since: float | None = None
        self.topic = config.topic
        self._config = config
        self._reader = reader
        self._store = store
        self._log = log
        self._scheme = scheme.read(config.scheme, empty=config.tombstones == "emit")
        self._coordinator = Coordinator(*place, static=config.partitions, every=config.refresh)
        self._asker: Asker[KnownTopic | StartFactsFound] = Asker()
        self._ask_at = 0.0
        self._epoch = epoch
        self._anew = False
        self._first: frozenset[int] | None = frozenset() if new else None
        self._topic_id = ""
        self._current = 0
        self._astray: set[int] = set()
        self._held: set[int] = set()
        self._stalled_until = 0.0
        self._unstored: dict[int, list[KafkaRecord]] = {}
        self._lost: dict[int, int] = {}
        self._given_up_before: dict[int, GivenUp] = {}
        self._last_commit = 0.0

    # --- which there are ----------------------------------------------------------------------------------------

    def follow(self, now: float, limit: float) -> None:
        """Follow the topic: take an answer, and ask the next question. Raises FailedFetchError, ProgressError.

        Waits for the answer while nothing is read, at most `limit` seconds.
        """
        self._ask(now)
        answer = None
        try:
            answer = self._asker.answer(0 if self._coordinator.managers else limit)
            if answer is not None:
                self._apply(answer, now)
                self.away_since = None
        except Exception:
            self._ask_at = now + RETRIED_AFTER
            partly = isinstance(answer, StartFactsFound) and answer.found
            self.away_since = None if partly else self.away_since or now
            raise
        self._ask(now)

    def _apply(self, answer: KnownTopic | StartFactsFound, now: float) -> None:
        if isinstance(answer, KnownTopic):
            self._refresh(answer, now)
        else:
            self._open(answer)

    def _ask(self, now: float) -> None:
        if self._asker.busy or now < self._ask_at:
            return
        coordinator = self._coordinator
        if coordinator.due(now):
            self._asker.ask(partial(questions.known, self._reader))
        elif wanted := [*coordinator.to_open, *self._astray]:
            at = self._config.at if self._config.start == "timestamp" else None
            self._asker.ask(partial(questions.places, self._reader, self._store, wanted, at))

    def failed(self) -> None:
        """A fetch failed: follow the topic at once."""
        self._coordinator.failed()

    def _refresh(self, topic: KnownTopic, now: float) -> None:
        if topic.topic_id and self._topic_id and topic.topic_id != self._topic_id:
            self._log(f"topic {self._config.topic} was deleted and made anew: every partition begins anew", WARN)
            self._coordinator.managers.clear()
            self._unstored.clear()
            self._given_up_before.clear()
            self._anew = True
            self._epoch += 1
        self._topic_id = topic.topic_id or self._topic_id
        if self._first is None:
            self._first = frozenset(topic.partitions)
        change = self._coordinator.refresh(topic.partitions, now)
        if change.warning:
            self._log(change.warning, WARN)
        for manager in change.closed:
            self._log(f"partition {manager.partition} is not this task's any more", INFO)
        if change.closed:
            self._assign()

    def _open(self, places: StartFactsFound) -> None:
        """Open what was asked about. Raises FailedFetchError for the rest, which is asked about again."""
        managers = self._coordinator.managers
        wanted = set(self._coordinator.to_open)
        opened = wanted & places.found.keys()
        for number in sorted(opened):
            self._opened(number, places.found[number])
        astray = self._astray & managers.keys() & places.found.keys()
        for number in astray:
            self._set_right(managers[number], places.found[number])
        self._astray &= managers.keys() - astray
        if opened or astray:
            self._assign()
        if places.trouble:
            raise FailedFetchError(places.trouble)

    def _opened(self, partition: int, place: StartFacts) -> None:
        config, old = self._config, self._config.profile == "storm-0.9.3"
        stored = None if self._anew else place.stored
        begin = self._begin(partition, stored, place.seen)
        if stored is not None:
            self._given_up_before[partition] = stored.given_up
        self._say(partition, begin)
        backoff = Backoff(
            initial=config.retry_initial,
            multiplier=config.retry_multiplier,
            longest=config.retry_longest,
            limit=config.retry_limit,
        )
        manager = PartitionManager(
            partition,
            begin.offset,
            self._scheme,
            Backoff(initial=0) if old else backoff,
            max_uncommitted=config.max_uncommitted,
            max_bytes=config.max_bytes,
            epoch=self._epoch,
            tracked=config.guarantee == "at-least-once",
            as_0_9_3=old,
            max_behind=config.max_behind,
        )
        if not old:
            manager.committed_to = UNKNOWN if stored is None or stored.offset > begin.offset else stored.offset
        self._coordinator.opened(manager)

    def _begin(self, partition: int, stored: start.Committed | None, seen: start.BrokerOffsets) -> Start:
        config = self._config
        if config.profile == "storm-0.9.3":
            force = config.force_from_start
            return start.decide_as_0_9_3(stored, seen, force_from_start=force, max_behind=config.max_behind)
        if stored is None and (self._anew or partition not in (self._first or ())):
            return Start(seen.earliest, f"new while this task runs: from the earliest, {seen.earliest}")
        return start.decide(config.start, stored, seen, config.max_behind)

    def _set_right(self, manager: PartitionManager, place: StartFacts) -> None:
        """Move on where the next offset is gone: it was deleted, or the log was cut, or the topic was made anew."""
        begin = start.decide("earliest", start.Committed(manager.fetched_to, ours=True), place.seen)
        if self._config.profile == "storm-0.9.3":
            force = self._config.force_from_start
            begin = start.out_of_range_as_0_9_3(manager.fetched_to, place.seen, force_from_start=force)
        self._say(manager.partition, begin)
        if begin.offset < manager.fetched_to:
            self._epoch += 1
            del self._coordinator.managers[manager.partition]
            self._coordinator.to_open.append(manager.partition)
        else:
            manager.jump(begin.offset)

    def _assign(self) -> None:
        self._held.clear()
        self._reader.assign({number: each.fetched_to for number, each in self._coordinator.managers.items()})

    def _say(self, partition: int, begin: Start) -> None:
        self._lost[partition] = self._lost.get(partition, 0) + (0 if begin.lost is None else len(begin.lost))
        self._log(f"partition {partition}: {begin.why}", INFO if begin.lost is None else WARN)

    # --- messages -----------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """True if something that was fetched may be emitted."""
        if self._stalled_until:
            return False
        return any(manager.fetched and not manager.full for manager in self._coordinator.managers.values())

    @property
    def pending(self) -> bool:
        """True if something emitted is not done."""
        return any(manager.pending for manager in self._coordinator.managers.values())

    def next(self, now: float) -> Turn:
        """Round robin: a partition is left when all that was fetched of it is emitted (``KafkaSpout.nextTuple``).

        Raises SchemeAwayError.
        """
        if now < self._stalled_until:
            return NOTHING
        self._stalled_until = 0.0
        managers = list(self._coordinator.managers.values())
        for _ in managers:
            self._current %= len(managers)
            turn = managers[self._current].next(now)
            if turn.state is not EmitState.EMITTED_MORE_LEFT:
                self._current += 1
            if turn.state is not EmitState.NO_EMITTED or turn.refused:
                return turn
        return NOTHING

    def stall(self, until: float) -> None:
        """Emit nothing until then: what the scheme needs is away."""
        self._stalled_until = until

    def manager(self, partition: int) -> PartitionManager | None:
        """The manager of a partition, None if it is not this task's."""
        return self._coordinator.managers.get(partition)

    def fetch(self, limit: float, most: int = 0) -> None:
        """Take what Kafka has sent, waiting at most `limit` seconds for the first message. Raises FailedFetchError.

        `most`: messages to be taken, by default the `prefetch` of the settings.
        """
        self._hold()
        fetched = self._reader.fetch(limit, most or self._config.prefetch)
        managers = self._coordinator.managers
        mine = {number: records for number, records in fetched.records.items() if number in managers}
        if self._config.guarantee == "at-most-once":
            self._store_first(mine)
        else:
            for number, records in mine.items():
                managers[number].take(records)
        if astray := fetched.out_of_range & managers.keys():
            self._astray |= astray
            self._coordinator.failed()
        if fetched.trouble:
            raise FailedFetchError(fetched.trouble)

    def _store_first(self, fetched: Mapping[int, list[KafkaRecord]]) -> None:
        """At most once: what is fetched may be emitted when it is stored that it was."""
        for number, records in fetched.items():
            self._unstored.setdefault(number, []).extend(records)
        if fetched:
            self._begin_to_store()
        if self._unstored:
            self._take_stored()

    def _hold(self) -> None:
        """Fetch no more of a partition whose messages can't be emitted, until those that are here are."""
        managers = self._coordinator.managers
        stalled = bool(self._stalled_until)
        blocked = {
            number
            for number, each in managers.items()
            if each.fetched and (stalled or each.full or number in self._held)
        }
        blocked |= self._unstored.keys() & managers.keys()
        if blocked != self._held:
            self._reader.hold(blocked - self._held, held=True)
            self._reader.hold((self._held - blocked) & managers.keys(), held=False)
            self._held = blocked

    # --- progress -----------------------------------------------------------------------------------------------

    def commit(self, now: float) -> None:
        """Store what is done, if it is time. Raises ProgressError, FailedFetchError."""
        managers = self._coordinator.managers.values()
        pause = COMMITS_APART if any(manager.crowded for manager in managers) else self._config.commit
        if now - self._last_commit >= pause:
            self._last_commit = now
            self.fetch(0, most=1)  # which is how the client hears what became of the last commit
            self._take_stored()
            self._begin_to_store()

    def commit_now(self, until: Callable[[], bool]) -> None:
        """Store what is done, and wait for it while `until` is true. Raises ProgressError, FailedFetchError."""
        managers = self._coordinator.managers.values()
        if self._config.guarantee == "at-most-once":
            return
        self._begin_to_store()
        self._take_stored()
        while any(each.last_completed != each.committed_to for each in managers) and until():
            self.fetch(COMMITS_APART / 5, most=1)
            self._take_stored()

    def _begin_to_store(self) -> None:
        if self._config.guarantee == "at-most-once":
            done = {number: records[-1].offset + 1 for number, records in self._unstored.items()}
        else:
            managers = self._coordinator.managers.items()
            done = {
                number: each.last_completed for number, each in managers if each.last_completed != each.committed_to
            }
        if done:
            self._reader.given_up = {number: self._given_up(number) for number in done}
            self._store.store(done)

    def _given_up(self, partition: int) -> GivenUp:
        """Messages given up so far, those of earlier processes among them."""
        before, manager = self._given_up_before.get(partition, GivenUp()), self.manager(partition)
        if manager is None or manager.last_refused is None:
            return before
        last = manager.last_refused
        return GivenUp(before.count + manager.given_up, last.record.offset, last.why[:LONGEST_REASON])

    def _take_stored(self) -> None:
        for number, offset in self._store.stored().items():
            manager = self._coordinator.managers.get(number)
            if manager is not None:
                manager.stored(offset)
                records = self._unstored.pop(number, [])
                manager.take(record for record in records if record.offset < offset)
                if rest := [record for record in records if record.offset >= offset]:
                    self._unstored[number] = rest

    def close(self) -> None:
        """Read no more; what is not stored stays so."""
        self._asker.end(self._reader.close)

    # --- for people ---------------------------------------------------------------------------------------------

    def metrics(self) -> dict[int, PartitionMetrics]:
        """Progress and lag, by partition, as far as the client knows them without asking."""
        found = {}
        for number, manager in sorted(self._coordinator.managers.items()):
            ends = self._reader.ends(number)
            found[number] = metrics_of(manager, *ends, self._lost.get(number, 0) + manager.forgotten)
        return found
