"""Storm's ShellSpout: one command, then all that is said until its sync (``ShellSpout.querySubprocess``)."""

from __future__ import annotations

import select
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from multilang_cli.driver.process import READ_SIZE, BrokenStdin
from multilang_cli.driver.session import POLLS_EVERY, Session
from multilang_cli.driver.shell_bolt import KEPT_EMITS, kept
from multilang_cli.protocol.judge.spout_rules import acked_inside
from multilang_cli.protocol.storm.reading import SYNCS, read_frames
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.batches import Batch
from multilang_cli.protocol.wire.framing import Frames
from multilang_cli.protocol.words.events import Activation, Event
from multilang_cli.protocol.words.messages import Emit, Json, SpoutCommand, Sync, TaskIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from multilang_cli.driver.process import ComponentProcess
    from multilang_cli.driver.pump import EventSink
    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.wire.framing import Frame
    from multilang_cli.protocol.words.verdicts import Finding

NEXT = SpoutCommand("next")
TALKS_FOR_LIMITS = 3
"""How many times its limit a command may take in which the spout goes on talking; the limit for silence comes after."""
WRITTEN_IN_ONE_GO = 4
"""Messages up to which a command, and what is to be said before it, is written and answered in one go."""


def _is_plain(message: object) -> bool:
    return message.__class__ is Sync or (message.__class__ is Emit and not message.hazards)


class ShellSpout(Session):
    """Plays ShellSpout to a spout. A sync that comes early answers the next command, as it does in Storm.

    With `topology.acker.executors` 0 an emit with an id is acked before it is answered, as in Storm, and from 0.10.0 to
    1.2.4 one that reaches no task. `active`: None until the topology is activated for the first time. `emit_count`:
    how many tuples it emitted, `id_count`: how many of them with an id; both 0 if `keep_emits` is False. `blocks`: one
    thread reads and writes, as in Storm: while stdin takes no more, nothing is read.
    """

    __slots__ = (
        "_answered",
        "_inner",
        "_next",
        "_unread",
        "_waiting",
        "acks_at_once",
        "active",
        "blocks",
        "emit_count",
        "id_count",
    )

    _lengthy = 0
    _ids_overtake = False
    """One thread of Storm's writes both: task ids come behind the command in whose answer it reads the emit."""

    def __init__(self, process: ComponentProcess, judge: Conversation, sinks: Iterable[EventSink] = ()) -> None:
        super().__init__(process, judge, sinks)
        self._own_handlers = {Emit: self._heard_emit, Sync: self._heard_sync}
        self.handlers = self._own_handlers
        self._next = wire.encode(NEXT, self.version)
        self.emits: list[Emit] = []
        self.keep_emits = True
        self.emit_count = self.id_count = 0
        self._answered = False
        self._unread: deque[tuple[Emit | Sync, int]] = deque()
        self._inner: list[TaskIds | None] = []
        self._waiting = False
        self.active: bool | None = None
        self.blocks = False
        self.acks_at_once = self.profile.without_ackers

    def block_as_storm(self) -> None:
        """Read nothing while the spout's stdin takes no more, with pipes like Storm's: before anything was said."""
        self.blocks = True
        self.process.use_plain_pipes()

    def pump(self, timeout: float, done: Callable[[], bool] | None = None) -> None:
        """One round of reading and writing; of writing alone while Storm would stand in a write."""
        if self.blocks:
            full = bool(self.stdin.buffer) and not (self.stdin.pieces.any or self._takes_more())
            self.process.listen(listening=not full)
        super().pump(timeout, done)

    def _takes_more(self) -> bool:
        return self.process.poll(0, want_write=True).stdin

    @property
    def emitted(self) -> bool:
        """True if the component has emitted anything that was kept."""
        return bool(self.emits)

    def _heard_emit(self, emit: Emit, size: int) -> None:
        self._unread.append((emit, size))
        self._read()

    def _heard_sync(self, sync: Sync, size: int) -> None:
        self._unread.append((sync, size))
        self._read()

    def _read(self) -> None:
        """Take what was said, but only up to the sync of the command that is out: between commands Storm reads nothing.

        With a command within a command, the first sync is that of the inner one.
        """
        while self._waiting and self._unread:
            said, size = self._unread.popleft()
            if isinstance(said, Emit):
                self._take(said, size)
            elif self._inner:
                self.stdin.answer(self._inner.pop())
            else:
                self._waiting, self._answered = False, True

    def _take(self, emit: Emit, size: int) -> None:
        """Send acks as Storm does: where it acks inside the emit, it waits for a sync before the task ids.

        Storm knows of a tuple, and may ack or fail it, only now: what was said after a sync is read with the next.
        """
        if self.keep_emits:
            self.emit_count += 1
            self.id_count += emit.id is not None
            if len(self.emits) < KEPT_EMITS:
                self.emits.append(kept(emit, size))
        reply = self.route(emit)
        if emit.id is not None and acked_inside(self.judge, emit):
            self._inner.append(reply)
            self.say(SpoutCommand("ack", emit.id))
        else:
            self.stdin.answer(reply)

    def call(self, command: str, id_: Json = "", limit: float = 10.0) -> bool:
        """Send a command and wait for its sync. False, with a finding, if `limit` seconds pass first.

        activate and deactivate are sent to no component by a Storm that does not know them; True at once then.
        """
        if command in {"activate", "deactivate"}:
            self.active = command == "activate"
        if command in {"activate", "deactivate"} and not self.version.activate:
            self.note("control", Activation(command == "activate"))
            return True
        if command != "next" or self.stdin.queue or not self._is_free():
            self.ask(command, id_)
        elif self._next_at_once(min(limit, POLLS_EVERY)):
            return True
        return self.wait_sync(limit)

    def _is_free(self) -> bool:
        """True if nothing is under way but the queue, and nothing is asked for but to speak as fast as it goes."""
        out = self.stdin
        return (
            not (out.buffer or self._unread or self._inner)
            and not (out.pieces.piece or out.pieces.to_cut or self.tamper or self.blocks or self._closing)
            and self.running
            and self.deaf_from is None
            and self.handlers is self._own_handlers
            and self.read_size == READ_SIZE
            and not (self.as_storm and self.worker_is_dead)
        )

    def _next_at_once(self, limit: float) -> bool:
        """Send next and take its answer, if within `limit` seconds that is a sync and nothing else.

        Else False, and the command is out: what came of it until then was taken in.
        """
        raw, start = self._next, time.monotonic()
        self._keep_bounds(start)
        try:
            data = self.process.exchange(raw, limit)
        except BrokenStdin:
            data = None
        if data is None:
            self.ask("next")
            return False
        asked = start - self.clock.start
        answered = self.clock.caught_up(asked + limit)
        if data in SYNCS and self._framer.between:
            found = self.judge.pass_empty_next(self._seq, asked, answered)
            if found is not None:
                self._passed(asked, answered, data, found)
                return True
        self._waiting, self._answered = True, False
        self._happened((self._sent_next(asked),))
        if data:
            self._hear(self._framer.feed(data))
        return False

    def ask_at_once(self, command: str, id_: Json, limit: float) -> None:
        """As `ask`, and take what is said within `limit` seconds, where little is to be written and nothing else done.

        What was asked may still be unanswered, or not be written at all.
        """
        self.ask(command, id_)
        out = self.stdin
        if len(out.queue) > WRITTEN_IN_ONE_GO or not self._is_free():
            return
        told = out.taken(self._seq, self.now)
        self._seq += len(told)
        data = None
        if len(told.data) <= select.PIPE_BUF:
            with suppress(BrokenStdin):  # which the next write will tell
                data = self.process.exchange(told.data, limit)
        if data is None:
            out.buffer += told.data
        if not data or not self._answers(told, frames := self._framer.feed(data)):
            self._happened(told)
            if data:
                self._hear(frames)

    def _answers(self, told: Batch, frames: Sequence[Frame]) -> bool:
        """Take `frames` in if they are all that answers a command, and plainly right; else nothing is done."""
        if not isinstance(frames, Frames):
            return False
        said = Batch(
            self._seq, self.now, "out", read_frames(frames), data=frames.data, offset=frames.offset, texts=frames.texts
        )
        if not self.judge.pass_turn(told, said):
            return False
        self._seq += len(said)
        for sink in self._sinks:
            sink.take(told, ())
            sink.take(said, ())
        self._react_all(said)
        return True

    def _react_all(self, batch: Batch) -> None:
        """Read all at once where nobody else handles messages, and nothing in an emit has to be looked at again."""
        others = self.handlers is not self._own_handlers or self.deaf_from is not None
        if others or not all(map(_is_plain, batch.bodies)):
            super()._react_all(batch)
            return
        self._unread += zip(batch.bodies, map(len, batch.texts), strict=True)
        self._read()

    def _passed(self, asked: float, answered: float, sync: bytes, found: list[Finding]) -> None:
        """Note a next and its sync, which were judged."""
        at = self._framer.offset
        self._framer.offset += len(sync)
        if not self._sinks:
            self._seq += 2
            self.stdin.written += len(self._next)
        else:
            both = (self._sent_next(asked), Event(self._seq, answered, "out", SYNCS[sync], sync, at))
            self._seq += 1
            for sink in self._sinks:
                sink.take(both, found)
        if found:
            self._found(found)

    def _sent_next(self, asked: float) -> Event:
        event = self.stdin.sent(NEXT, self._next, self._seq, asked)
        self._seq += 1
        return event

    def wait_sync(self, limit: float) -> bool:
        """Wait for the sync of what was asked, as `call` does.

        Each message meanwhile is a sign of life, and the limit begins anew (``ShellSpout.querySubprocess``), but not
        for ever: who talks on and on in one command is never asked anything else.
        """
        until, state = self.now + TALKS_FOR_LIMITS * limit, self.judge.state
        answered = self.wait(self._is_answered, limit, "sync", lambda: state.heard if self.now < until else 0.0)
        self.leave()
        return answered

    def _is_answered(self) -> bool:
        return self._answered and self.idle

    def ask(self, command: str, id_: Json = "") -> None:
        """Send a command without waiting for its sync; what was said before is read now, as its answer."""
        self._waiting, self._answered = True, False
        self.say(SpoutCommand(command, id_))
        self._read()

    def leave(self) -> None:
        """Wait for the sync no longer: it came, or Storm would have given up."""
        self._waiting = self._answered = False

    def forget_syncs(self) -> None:
        """Take no sync that came so far for an answer."""
        self._answered = False
        self._unread = deque(each for each in self._unread if not isinstance(each[0], Sync))

    @property
    def unanswered(self) -> bool:
        """True if a command is out whose sync has not come."""
        return self._waiting

    @property
    def answered(self) -> bool:
        """True if the sync of the command that was sent last has come."""
        return self._answered
