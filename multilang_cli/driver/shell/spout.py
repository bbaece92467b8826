"""Storm's ShellSpout: one command, then all that is said until its sync (``ShellSpout.querySubprocess``)."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from multilang_cli.driver.process import BrokenStdin
from multilang_cli.driver.pump import Pump
from multilang_cli.driver.script import Script
from multilang_cli.driver.session import POLL_INTERVAL, Session
from multilang_cli.driver.shell.collectors import KeptEmits
from multilang_cli.protocol.judge.spout_rules import acked_inside
from multilang_cli.protocol.storm.reading import SYNCS
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.batches import EmptyTurns
from multilang_cli.protocol.words.events import Activation, Event
from multilang_cli.protocol.words.messages import Emit, Json, SpoutCommand, Sync, TaskIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.process import ComponentProcess
    from multilang_cli.driver.shell.collectors import OutputCollector
    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.wire.batches import Batch
    from multilang_cli.protocol.words.verdicts import Finding

NEXT = SpoutCommand("next")
TALKS_FOR_LIMITS = 3
"""How many times its limit a command may take in which the spout goes on talking; the limit for silence comes after."""
WRITTEN_IN_ONE_GO = 4
"""Messages up to which a command, and what is to be said before it, is written and answered in one go."""


def _is_plain(message: object) -> bool:
    return message.__class__ is Sync or (message.__class__ is Emit and not message.hazards)


class ShellSpout(Script):
    """Plays ShellSpout to a spout, in a `session`. A sync that comes early answers the next command, as in Storm.

    What it emits goes to `collector`, without one to `kept`. With `topology.acker.executors` 0 an emit with an id is
    acked before it is answered, as in Storm, and from 0.10.0 to 1.2.4 one that reaches no task. `active`: None until
    the topology is activated for the first time. `blocks`: one thread reads and writes, as in Storm: while stdin takes
    no more, nothing is read. `on_answer`: called whenever a command was answered. `runs_on`: see `Clock`.
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
        "collector",
        "handlers",
        "judge",
        "kept",
        "on_answer",
        "profile",
        "pump",
        "session",
        "stdin",
        "version",
    )

    lengthy = 0
    ids_overtake = False
    """One thread of Storm's writes both: task ids come behind the command in whose answer it reads the emit."""

    def __init__(
        self,
        process: ComponentProcess,
        judge: Conversation,
        sinks: Iterable[EventSink] = (),
        *,
        collector: OutputCollector | None = None,
        runs_on: bool = False,
    ) -> None:
        self.kept = KeptEmits(judge.profile)
        self.collector: OutputCollector = collector or self.kept
        self.handlers = {Emit: self._heard, Sync: self._heard_sync, **self.collector.handlers}
        self.session = Session(Pump(process, judge, sinks, self, runs_on=runs_on))
        self.judge, self.profile, self.version = judge, judge.profile, judge.version
        self.pump, self.stdin = self.session.pump, self.session.pump.stdin
        self.on_answer: Callable[[], object] | None = None
        self._next = wire.encode(NEXT, self.version)
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
        self.session.process.use_plain_pipes()

    def before_round(self, timeout: float) -> float:
        """Read nothing in this round if Storm would stand in a write."""
        if self.blocks:
            full = bool(self.stdin.buffer) and not (self.stdin.pieces.any or self._takes_more())
            self.session.process.listen(listening=not full)
        return timeout

    def _takes_more(self) -> bool:
        return self.session.process.poll(0, want_write=True).stdin

    def answer(self, emit: Emit) -> None:
        """Answer an emit that was taken while somebody else played."""
        self.stdin.answer(self.kept.route(emit))

    @property
    def last_emit(self) -> Emit | None:
        """The last emit, None if that is not known."""
        return self.collector.last_emit

    def take(self, batch: Batch) -> bool:
        """Read all at once, where nothing in an emit has to be looked at again."""
        if not all(map(_is_plain, batch.bodies)):
            return False
        self._unread += zip(batch.bodies, map(len, batch.texts), strict=True)
        self._read()
        if self._answered and self.on_answer is not None:
            self.on_answer()
        return True

    def _heard(self, said: Emit | Sync, size: int) -> None:
        self._unread.append((said, size))
        self._read()

    def _heard_sync(self, sync: Sync, size: int) -> None:
        self._heard(sync, size)
        if self._answered and self.on_answer is not None:
            self.on_answer()

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
        reply = self.collector.emit(emit, size)
        if emit.id is not None and acked_inside(self.judge, emit):
            self._inner.append(reply)
            self.session.say(SpoutCommand("ack", emit.id))
        else:
            self.stdin.answer(reply)

    def call(self, command: str, id_: Json = "", limit: float = 10.0) -> bool:
        """Send a command and wait for its sync. False, with a finding, if `limit` seconds pass first.

        activate and deactivate are sent to no component by a Storm that does not know them; True at once then.
        """
        if command in {"activate", "deactivate"}:
            self.active = command == "activate"
            if not self.version.activate:
                self.pump.note("control", Activation(command == "activate"))
                return True
        # Not by `_is_busy`: one call more is a fiftieth of what a next and its sync cost.
        busy = self._unread or self._inner or self.blocks or (self.session.as_storm and self.session.worker_is_dead)
        if command != "next" or busy or limit < POLL_INTERVAL or self.stdin.queue or not self.pump.is_free():
            self.ask(command, id_)
        elif self._next_at_once():
            return True
        return self.wait_sync(limit)

    def _next_at_once(self) -> bool:
        """Send next and take its answer, if within `POLL_INTERVAL` seconds that is a sync and nothing else.

        Else False, and the command is out: what came of it until then was taken in.
        """
        session, pump, start = self.session, self.pump, time.monotonic()
        pump.keep_bounds(start)
        try:
            data = session.process.exchange(self._next, POLL_INTERVAL)
        except BrokenStdin:
            data = None
        if data is None:
            self.ask("next")
            return False
        asked = start - pump.clock.start
        answered = pump.clock.caught_up(asked + POLL_INTERVAL)
        if data in SYNCS and pump.framer.is_between():
            found = self.judge.pass_empty_next(pump.events.seq, asked, answered)
            if found is not None:
                self._passed(asked, answered, data, found)
                return True
        self._waiting, self._answered = True, False
        pump.events.judged((self._sent_next(asked),))
        if data:
            pump.hear_bytes(data)
        return False

    def _passed(self, asked: float, answered: float, sync: bytes, found: list[Finding]) -> None:
        """Note a next and its sync, which were judged."""
        log, framer = self.pump.events, self.pump.framer
        at = framer.offset
        framer.offset += len(sync)
        if log.sinks:
            log.passed((self._sent_next(asked), Event(log.seq + 1, answered, "out", SYNCS[sync], sync, at)), found)
            return
        log.seq += 2
        self.stdin.written += len(self._next)
        if found:
            log.found(found)

    def _sent_next(self, asked: float) -> Event:
        return self.stdin.sent(NEXT, self._next, self.pump.events.seq, asked)

    def ask_at_once(self, command: str, id_: Json, limit: float) -> None:
        """As `ask`, and take what is said within `limit` seconds, where little is to be written and nothing else done.

        What was asked may still be unanswered, or not be written at all.
        """
        self.ask(command, id_)
        if self._is_short() and self.pump.is_free():
            self.pump.converse(limit)

    def ask_for_later(self, command: str, id_: Json) -> None:
        """As `ask`, and write it now if nothing else is to be done: then it is judged together with its answer."""
        self.ask(command, id_)
        if self._is_short() and self.pump.is_free():
            self.pump.tell()

    def _is_short(self) -> bool:
        return not self._is_busy() and len(self.stdin.queue) <= WRITTEN_IN_ONE_GO

    def tell_outcomes(self, commands: Sequence[SpoutCommand], limit: float, until: float) -> int:
        """Tell acks and fails, as long as each is answered by its sync alone within `limit` seconds; gives how many.

        The last of those may still be unanswered, as after `ask`. None is told after `until`, in seconds of the
        conversation, nor if there is anything else to do.
        """
        pump, clock, log = self.pump, self.pump.clock, self.pump.events
        if self._is_busy() or self.stdin.queue or not (pump.is_free() and pump.framer.is_between()):
            return 0
        turns, asked = EmptyTurns(log.seq, (self.stdin.written, pump.framer.offset)), clock.now
        for command in commands:
            told = wire.encode(command, self.version)
            data = pump.exchange(told, limit) if asked <= until else None
            if data is None or data not in SYNCS:
                break
            turns.add(command, told, data, (asked, asked := clock.now))
        else:
            data = None
        self._take_turns(turns)
        if data is None:
            return len(turns.commands)
        self._waiting, self._answered = True, False
        log.judged((self.stdin.sent(command, told, log.seq, asked),))
        pump.hear_bytes(data)
        return len(turns.commands) + 1

    def _take_turns(self, turns: EmptyTurns) -> None:
        log = self.pump.events
        self.stdin.written, self.pump.framer.offset = turns.ends
        if turns.commands and self.judge.pass_empty_turns(turns):
            log.passed(turns)
        elif turns.commands:
            log.judged(turns)

    def _is_busy(self) -> bool:
        """True if there is more to a command than to write it and to read its answer."""
        dead = self.session.as_storm and self.session.worker_is_dead
        return bool(self._unread or self._inner or self.blocks or dead)

    def wait_sync(self, limit: float) -> bool:
        """Wait for the sync of what was asked, as `call` does.

        Each message meanwhile is a sign of life, and the limit begins anew (``ShellSpout.querySubprocess``), but not
        for ever: who talks on and on in one command is never asked anything else.
        """
        session, state = self.session, self.judge.state
        until = session.now + TALKS_FOR_LIMITS * limit
        answered = session.wait(self._is_answered, limit, "sync", lambda: state.heard if session.now < until else 0.0)
        self.leave()
        return answered

    def _is_answered(self) -> bool:
        return self._answered and self.session.idle

    def ask(self, command: str, id_: Json = "") -> None:
        """Send a command without waiting for its sync; what was said before is read now, as its answer."""
        self._waiting, self._answered = True, False
        self.session.say(SpoutCommand(command, id_))
        self._read()

    def leave(self) -> None:
        """Wait for the sync no longer: it came, or Storm would have given up."""
        self._waiting = self._answered = False

    def forget_syncs(self) -> None:
        """Take no sync that came so far for an answer."""
        self._answered = False
        self._unread = deque(each for each in self._unread if not isinstance(each[0], Sync))

    @property
    def asked(self) -> bool:
        """True from a command on, until its sync is waited for no longer."""
        return self._waiting or self._answered

    @property
    def unanswered(self) -> bool:
        """True if a command is out whose sync has not come."""
        return self._waiting

    @property
    def answered(self) -> bool:
        """True if the sync of the command that was sent last has come."""
        return self._answered
