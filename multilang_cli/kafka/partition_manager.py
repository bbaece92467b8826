"""One partition as a task works it off: what is fetched, emitted, failed and done (``PartitionManager``). Pure.

A message is emitted as one tuple or several. It is done when all of them are acked; the first fail fails it as a whole,
and what is still said of that attempt is ignored. In the profile `storm-0.9.3` all its tuples have one id, so that the
first ack completes it: that loses data, and is what Storm did.
"""

from __future__ import annotations

import heapq
import re
from collections import deque
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multilang_cli.kafka.retry import Backoff


MOST_PASSED = 1_000
"""Messages without a tuple that one call passes over: Storm waits."""
_ID = re.compile(":".join([r"([0-9]{1,20})"] * 5))


class EmitState(Enum):
    """Result of a call of `PartitionManager.next` (``PartitionManager.EmitState``)."""

    NO_EMITTED = "nothing emitted"
    EMITTED_MORE_LEFT = "emitted, and more is fetched"
    EMITTED_END = "emitted the last that is fetched"


class KafkaRecord(msgspec.Struct, frozen=True, gc=False):
    """A message of Kafka. `timestamp` in milliseconds since 1970, None if it has none. `partition`: -1 for unknown.

    `topic`: "" for unknown.
    """

    offset: int
    value: bytes | None
    key: bytes | None = None
    timestamp: int | None = None
    headers: tuple[tuple[str, str | bytes | None], ...] = ()
    partition: int = -1
    topic: str = ""


class MessageId(NamedTuple):
    """Names one tuple of one attempt to have a message processed. `epoch`: how often the topic was made anew before."""

    partition: int
    epoch: int
    offset: int
    attempt: int
    nth: int

    def __str__(self) -> str:
        """As it goes through the protocol."""
        return f"{self.partition}:{self.epoch}:{self.offset}:{self.attempt}:{self.nth}"

    @classmethod
    def read(cls, text: object) -> MessageId | None:
        """The id of this text, None if it is none of ours."""
        found = _ID.fullmatch(str(text))
        return None if found is None else cls(*map(int, found.groups()))


class SchemeError(ValueError):
    """A message that a scheme can't read, in a sentence."""


class SchemeAwayError(Exception):
    """A scheme can't ask now for what it needs to read a message, in a sentence: the message waits."""


class TooManyFailuresError(Exception):
    """Nothing was acked, and more failed than may be behind: Storm 0.9.3 ends the worker then."""


class RefusedMessage(NamedTuple):
    """A message that is not emitted any more, and why. It is done when `PartitionManager.settle` is called.

    `ids`: those of its last attempt that were not acked.
    """

    partition: int
    record: KafkaRecord
    why: str
    ids: tuple[MessageId, ...] = ()


class Turn(NamedTuple):
    """Tuples of one message to emit now, each with its id; or the one message that can't be emitted."""

    state: EmitState
    tuples: list[tuple[list[Any], MessageId]]
    refused: RefusedMessage | None = None


class _Open(msgspec.Struct):
    """A message that is emitted and not done. `left`: tuples of this attempt without an ack; 0 while it waits."""

    record: KafkaRecord
    left: set[int]
    failures: int = 0

    @property
    def size(self) -> int:
        """Bytes of the message that are kept until it is done."""
        return len(self.record.value or b"")


NOTHING = Turn(EmitState.NO_EMITTED, [])


class PartitionManager:
    """Works off one partition from offset `start` on; times in seconds of any clock.

    `emitted_to`: the next offset to be emitted for the first time. `committed_to`: what is stored. `max_uncommitted`,
    `max_bytes`: emitted messages that may wait for a commit, and bytes of those that are not done; at a limit only
    failed ones are emitted again. `scheme`: makes the values of none, one or several tuples of a message.
    `as_0_9_3`: with the traps of Storm 0.9.3, where what is more than `max_behind` behind is given up (`forgotten`).
    Not `tracked`: a message is done once it is emitted. Messages stay in memory until they are done, so that one can be
    emitted again though Kafka has deleted it.
    """

    def __init__(
        self,
        partition: int,
        start: int,
        scheme: Callable[[KafkaRecord], list[list[Any]]],
        backoff: Backoff,
        *,
        max_uncommitted: int,
        max_bytes: int,
        epoch: int = 0,
        tracked: bool = True,
        as_0_9_3: bool = False,
        max_behind: int | None = None,
    ) -> None:
        self.partition = partition
        self.epoch = epoch
        self.emitted_to = start
        self.fetched_to = start
        self.committed_to = start
        self.emitted = self.acked = self.failed = self.given_up = self.forgotten = 0
        self.last_refused: RefusedMessage | None = None
        self._scheme = scheme
        self._backoff = backoff
        self._max_uncommitted = max_uncommitted
        self._max_bytes = max_bytes
        self._tracked = tracked
        self._as_0_9_3 = as_0_9_3
        self._max_behind = max_behind if as_0_9_3 else None
        self._waiting: deque[KafkaRecord] = deque()
        self._open: dict[int, _Open] = {}
        self._order: list[int] = []
        self._later: list[tuple[float, int]] = []
        self._due: list[int] = []
        self._uncommitted: deque[int] = deque()
        self._bytes = 0

    # --- fetching -----------------------------------------------------------------------------------------------

    def take(self, records: Iterable[KafkaRecord]) -> None:
        """Fetched messages, in the order of their offsets; those that were fetched before are left out."""
        for record in records:
            if record.offset >= self.fetched_to:
                self._waiting.append(record)
                self.fetched_to = record.offset + 1

    @property
    def fetched(self) -> int:
        """Number of fetched messages that wait to be emitted."""
        return len(self._waiting)

    def jump(self, offset: int) -> None:
        """Continue at a later offset; what was fetched before is still there."""
        self.fetched_to = offset
        if not self._waiting:
            self.emitted_to = offset

    # --- emitting -----------------------------------------------------------------------------------------------

    def next(self, now: float) -> Turn:
        """The tuples of one message: failed ones that are due first, the lowest offset first.

        Raises SchemeAwayError; the message is the next one again then.
        """
        while self._later and self._later[0][0] <= now:
            heapq.heappush(self._due, heapq.heappop(self._later)[1])
        while self._due:
            message = self._open.get(self._due[0])
            tuples = [] if message is None else self._read(message.record)
            heapq.heappop(self._due)
            if message is not None:
                return self._emit(message, tuples)
        for _ in range(MOST_PASSED):
            if not self._waiting or self.full:
                break
            record = self._waiting[0]
            tuples = self._read(record)
            self._waiting.popleft()
            self.emitted_to = record.offset + 1
            if self._tracked:
                self._uncommitted.append(record.offset)
            if tuples:
                return self._emit(self._opened(record), tuples)
        return NOTHING

    def _read(self, record: KafkaRecord) -> list[list[Any]] | RefusedMessage:
        """The values of its tuples; none if there is nothing in it."""
        try:
            return self._scheme(record)
        except SchemeError as error:
            return RefusedMessage(self.partition, record, str(error))

    @property
    def full(self) -> bool:
        """True if nothing new is emitted until something is done, or stored."""
        return len(self._uncommitted) >= self._max_uncommitted or self._bytes >= self._max_bytes

    def _opened(self, record: KafkaRecord) -> _Open:
        message = _Open(record, set())
        self._open[record.offset] = message
        self._bytes += message.size
        heapq.heappush(self._order, record.offset)
        return message

    def _emit(self, message: _Open, values: list[list[Any]] | RefusedMessage) -> Turn:
        if isinstance(values, RefusedMessage):
            return Turn(EmitState.NO_EMITTED, [], self._given_up(values))
        self.emitted += 1
        offset = message.record.offset
        if self._tracked and values:
            message.left = set(range(len(values)))
        else:
            self._done(offset)
        attempt, step = (0, 0) if self._as_0_9_3 else (message.failures, 1)
        tuples = [
            (each, MessageId(self.partition, self.epoch, offset, attempt, nth * step))
            for nth, each in enumerate(values)
        ]
        return Turn(EmitState.EMITTED_MORE_LEFT if self._waiting or self._due else EmitState.EMITTED_END, tuples)

    # --- what became of it --------------------------------------------------------------------------------------

    def ack(self, id_: MessageId) -> None:
        """One tuple was processed to its end."""
        message = self._meant(id_)
        if message is None:
            return
        message.left.discard(id_.nth)
        if not message.left or self._as_0_9_3:
            self.acked += 1
            self._done(id_.offset)
            self._forget_before(id_.offset)

    def fail(self, id_: MessageId, now: float) -> RefusedMessage | None:
        """One tuple failed: its message is emitted again after a delay.

        Gives the message if it has failed too often. Raises TooManyFailuresError where Storm 0.9.3 ends its worker.
        """
        message = self._meant(id_)
        if message is None:
            return None
        self.failed += 1
        message.failures += 1
        left, message.left = message.left, set()
        if self._max_behind is not None and self._ignored(id_.offset, self._max_behind):
            return None
        if self._backoff.gives_up(message.failures):
            why = f"failed {message.failures} times"
            ids = tuple(id_._replace(nth=nth) for nth in sorted(left))
            return self._given_up(RefusedMessage(self.partition, message.record, why, ids))
        heapq.heappush(self._later, (now + self._backoff.delay(message.failures), id_.offset))
        return None

    def _given_up(self, refused: RefusedMessage) -> RefusedMessage:
        self.given_up += 1
        self.last_refused = refused
        return refused

    def _meant(self, id_: MessageId) -> _Open | None:
        """The message of this id, if that attempt still goes on."""
        message = self._open.get(id_.offset)
        if message is None or not message.left or id_.epoch != self.epoch:
            return None
        current = self._as_0_9_3 or (id_.attempt == message.failures and id_.nth in message.left)
        return message if current else None

    def settle(self, offset: int) -> None:
        """A refused message was dropped, or put aside: it is done."""
        if offset in self._open:
            self._done(offset)

    def _done(self, offset: int) -> None:
        self._bytes -= self._open.pop(offset).size

    def _ignored(self, offset: int, max_behind: int) -> bool:
        """As 0.9.3: what fails too far behind is not emitted again. Raises TooManyFailuresError."""
        if offset < self.emitted_to - max_behind:
            return True
        if not self.acked and self.failed > max_behind:
            raise TooManyFailuresError(f"partition {self.partition}: Too many tuple failures ({self.failed})")
        return False

    def _forget_before(self, offset: int) -> None:
        """As 0.9.3: an ack forgets what is still pending too far behind it."""
        while self._max_behind is not None and self.last_completed < offset - self._max_behind:
            self.forgotten += 1
            self._done(self.last_completed)

    # --- progress -----------------------------------------------------------------------------------------------

    @property
    def pending(self) -> int:
        """Number of messages that are emitted and not done, failed ones included."""
        return len(self._open)

    @property
    def last_completed(self) -> int:
        """The offset up to which, and without which, everything is done: what may be stored."""
        while self._order and self._order[0] not in self._open:
            heapq.heappop(self._order)
        return self._order[0] if self._order else self.emitted_to

    @property
    def crowded(self) -> bool:
        """True if half of what may be uncommitted is, and some of it may be stored."""
        return 2 * len(self._uncommitted) >= self._max_uncommitted and self.last_completed > self.committed_to

    def stored(self, offset: int) -> None:
        """Progress was stored up to `offset`; what is beyond all that was fetched speaks of an older topic."""
        if offset > self.fetched_to and self._tracked:
            return
        self.committed_to = max(self.committed_to, offset)
        while self._uncommitted and self._uncommitted[0] < offset:
            self._uncommitted.popleft()
