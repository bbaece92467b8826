"""An acker (``Acker``): for each root one record of fixed size, however large the tuple tree is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from multilang_cli.acking.messages import (
    ACK_STREAM,
    FAIL_STREAM,
    RESET_TIMEOUT_STREAM,
    AckAck,
    AckFail,
    AckInit,
    AckResetTimeout,
    Reply,
)
from multilang_cli.acking.rotating import FEWEST_BUCKETS, RotatingMap

if TYPE_CHECKING:
    from multilang_cli.acking.messages import AckerMessage

TIMEOUT_BUCKET_NUM = 3
"""As Storm 2 has it: a record that is not put again is dropped between 2 and 3 ticks later. Storm 1.2 had 2,
and put a record again with every message."""

LatePolicy = Literal["ignore", "fail"]
"""What becomes of an ack or fail for a root whose record was dropped: nothing, as in every Storm that was looked at; or
the spout's task is told that the root failed, as some descriptions of Storm have it."""

UNKNOWN_TASK = -1
_LATE = frozenset({AckAck, AckFail})


class AckRecord(msgspec.Struct, gc=False):
    """An acker's record of a root (``Acker.AckObject``). `start`: when it was made, in seconds."""

    start: float
    val: int = 0
    spout_task: int = UNKNOWN_TASK
    failed: bool = False


class Acker(msgspec.Struct):
    """Takes messages in any order; answers a spout once its tree is complete or has failed.

    Whichever message comes first makes the record. So a message after the answer makes one that gets no answer
    (its spout's task stays unknown), and that goes when it expires. The Acker classes of Storm 2.0.0, 2.5.0 and 2.8.3
    did the same with random messages (``tests/data/acker-2.8.3.txt`` has some).

    `ticked`: False if this Storm sends no ticks to its ackers: nothing expires. `put_again`: every message starts a
    record's time again. `late`: see LatePolicy; `expired`: what it needs to know, for as long as two ticks.
    """

    pending: RotatingMap[int, AckRecord] = msgspec.field(default_factory=lambda: RotatingMap.of(TIMEOUT_BUCKET_NUM))
    ticked: bool = True
    put_again: bool = False
    late: LatePolicy = "ignore"
    expired: RotatingMap[int, AckRecord] = msgspec.field(default_factory=lambda: RotatingMap.of(FEWEST_BUCKETS))

    def execute(self, message: AckerMessage, t: float) -> Reply | None:
        """Take a message at `t` seconds; gives the answer to the spout, if there is one (``Acker.execute``)."""
        return self.take(message, t)[0]

    def take(self, message: AckerMessage, t: float) -> tuple[Reply | None, int]:
        """As `execute`, and the ack val after the message; 0 where there is an answer."""
        record, kind = self.pending.get(message.root), message.__class__
        if record is None:
            if self.late == "fail" and kind in _LATE and (old := self.expired.remove(message.root)):
                return Reply(old.spout_task, FAIL_STREAM, message.root, t - old.start), 0
            record = AckRecord(t)
            self.pending.put(message.root, record)
        elif self.put_again:
            self.pending.put(message.root, record)
        if isinstance(message, AckAck):
            record.val ^= message.val
            if record.val and not record.failed:
                return None, record.val
        elif isinstance(message, AckInit):
            record.val ^= message.val
            record.spout_task = message.task
        else:
            record.failed |= kind is AckFail
            self.pending.put(message.root, record)
        reply = self._answer(message, record, t)
        return reply, 0 if reply else record.val

    def _answer(self, message: AckerMessage, record: AckRecord, t: float) -> Reply | None:
        """Zero wins over failed, as in Storm; there is no answer until the spout's task is known."""
        stream: Literal["__ack_ack", "__ack_fail", "__ack_reset_timeout"]
        if record.spout_task == UNKNOWN_TASK:
            return None
        if record.val == 0:
            stream = ACK_STREAM
        elif record.failed:
            stream = FAIL_STREAM
        elif isinstance(message, AckResetTimeout):
            return Reply(record.spout_task, RESET_TIMEOUT_STREAM, message.root, t - record.start)
        else:
            return None
        self.pending.remove(message.root)
        return Reply(record.spout_task, stream, message.root, t - record.start)

    def tick(self) -> dict[int, AckRecord]:
        """One message timeout has passed; gives the records that were dropped. No spout is told."""
        if not self.ticked:
            return {}
        dropped = self.pending.rotate()
        if self.late == "fail":
            self.expired.rotate()
            for root, record in dropped.items():
                if record.spout_task != UNKNOWN_TASK:
                    self.expired.put(root, record)
        return dropped

    def val(self, root: int) -> int:
        """The ack val of a root; 0 as well if the acker knows nothing of it."""
        record = self.pending.get(root)
        return 0 if record is None else record.val
