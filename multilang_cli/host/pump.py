"""Bytes between one process and the judge: frames cut, events made, sinks told. What is waited for is not here."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from itertools import count, repeat
from typing import TYPE_CHECKING, Any, Protocol

from multilang_cli.host import waiting
from multilang_cli.host.launch import readable
from multilang_cli.host.process import READ_SIZE, BrokenStdin, ComponentProcess, Ready
from multilang_cli.host.routing import NONE, Router
from multilang_cli.protocol import wire
from multilang_cli.protocol.events import Chunk, Event, Exited, Fact, Started, StdoutClosed, WriteFailed
from multilang_cli.protocol.framing import DEFAULT_LIMIT, Frame, Framer
from multilang_cli.protocol.messages import FromComponent, FromStorm, Malformed, Pid
from multilang_cli.protocol.reading import MANY, read_commands, read_frame
from multilang_cli.protocol.taking import taken

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.protocol.conversation import Conversation
    from multilang_cli.protocol.events import Channel
    from multilang_cli.protocol.messages import Emit
    from multilang_cli.protocol.verdicts import Finding

BACKLOG = 64 * 1024
"""Bytes that are put into the write buffer ahead of the pipe: what task ids and heartbeats can't overtake any more."""
MOST_FINDINGS = 10_000
"""Findings after which a component is not listened to any longer."""
LAST_WORDS = 2 * 1024 * 1024
"""Bytes that are read from the pipe of a dead process: more than a pipe holds."""
GRACE = 2.0
"""Seconds that a process with a closed stdout or stdin is given to be dead."""


Ear = Callable[[Event, Any], None]


class Sink(Protocol):
    """Something that wants every event as it happens: a recorder, a display."""

    def take(self, events: Sequence[Event], findings: Sequence[Finding], /) -> None:
        """Take events that were judged together, and what was found in them. A finding's `seq` says in which."""


class Pump:
    """A running component and its judge.

    `findings` so far, `sinks` that see every event. `hold_task_ids` keeps task ids
    back until `release_task_ids`; `no_task_ids` answers emits with an empty list. `piece`: write so many bytes at a
    time, waiting until they are read (0: as fast as it goes). `sip`: read so many at a time. `overflowed`: a frame
    passed the limit. `flooded`: so much is wrong that more says nothing new. `ears`: what ShellBolt or ShellSpout does
    about a message, by its class.
    """

    def __init__(self, process: ComponentProcess, judge: Conversation, sinks: Iterable[Sink] = ()) -> None:
        self.process = process
        self.judge = judge
        self.profile = judge.profile
        self.version = judge.version
        self.findings: list[Finding] = []
        self.hold_task_ids = False
        self.no_task_ids = False
        self.piece = 0
        self.sip = READ_SIZE
        self.pid: int | None = None
        self.overflowed = False
        self.flooded = False
        self.ears: dict[type, Ear] = {}
        self._sinks = tuple(sinks)
        self._framer = Framer(int(self.profile.limits.get("frame", DEFAULT_LIMIT)))
        self._router = Router(self.profile)
        self._queue: deque[FromStorm] = deque()
        self._answers: deque[FromStorm] = deque()
        self._replies = self._answers if self.version.task_ids == "overtake" else self._queue
        self._held: deque[FromStorm] = deque()
        self._buffer = bytearray()
        self._written = 0
        self._to_cut: tuple[type[FromStorm], int] | None = None
        self._cut: int | None = None
        self._seq = 0
        self._start = time.monotonic()
        self._closing = False
        self._eof = False
        self._exit: Exited | None = None
        self._after_death = 0
        self.note("process", Started(tuple(map(readable, process.argv)), process.pid))

    # --- events -------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Seconds since the conversation began."""
        return time.monotonic() - self._start

    def note(self, channel: Channel, fact: Fact, raw: bytes = b"") -> list[Finding]:
        """Something happened that is no message."""
        event = Event(self._seq, self.now, channel, fact, raw)
        self._seq += 1
        return self._happened((event,))

    def _happened(self, events: Sequence[Event]) -> list[Finding]:
        """Have events judged, many at a time: it is several times faster than one by one."""
        found = self.judge.feed_all(events)
        if found:
            self.findings += found
            self.flooded = len(self.findings) >= MOST_FINDINGS
        for sink in self._sinks:
            sink.take(events, found)
        return found

    @property
    def running(self) -> bool:
        """True while the component can still say something."""
        return not (self._eof or self.overflowed or self.flooded)

    @property
    def exit(self) -> Exited | None:
        """How the process ended, None while it runs."""
        return self._exit

    @property
    def spoken(self) -> tuple[int, int]:
        """Bytes of messages so far, by Storm and by the component."""
        return self._written, self._framer.offset

    @property
    def next_seq(self) -> int:
        """The number that the next event will have."""
        return self._seq

    @property
    def queued(self) -> int:
        """How many messages are not yet in the write buffer."""
        return len(self._queue)

    @property
    def idle(self) -> bool:
        """True if Storm has nothing left to say."""
        return not (self._queue or self._answers)

    @property
    def emitted(self) -> bool:
        """True if the component has emitted anything."""
        return False

    @property
    def held(self) -> int:
        """How many replies with task ids are kept back."""
        return len(self._held)

    # --- Storm speaks -------------------------------------------------------------------------------------------

    def say(self, message: FromStorm) -> None:
        """Queue a message; it is an event when it is put into the pipe."""
        self._queue.append(message)

    def say_first(self, message: FromStorm) -> None:
        """Queue a message ahead of all others."""
        self._queue.appendleft(message)

    def answer_emit(self, emit: Emit) -> None:
        """Queue the task ids of an emit: ahead of tuples since Storm 1.0, behind them before (STORM-756)."""
        reply = NONE if self.no_task_ids else self._router.answer(emit)
        (self._held if self.hold_task_ids else self._replies).append(reply)

    def release_task_ids(self) -> None:
        """Send the task ids that were held back, and hold no more."""
        self.hold_task_ids = False
        self._replies.extend(self._held)
        self._held.clear()

    def cut(self, kind: type[FromStorm], at: int) -> None:
        """Cut the next message of a kind after `at` bytes: the rest follows when those were read and more is awaited.

        Without the wait both parts would come to the component as one.
        """
        self._to_cut = (kind, at)

    def hold_output(self, *, hold: bool) -> None:
        """Leave the component's stdout unread, or read it again."""
        self.process.hold_stdout(hold=hold)

    def _refill(self) -> None:
        buffer, answers, queue, now = self._buffer, self._answers, self._queue, self.now
        encode, version, seq, written = wire.encode, self.version, self._seq, self._written
        events = []
        while len(buffer) < BACKLOG and (source := answers or queue):
            message = source.popleft()
            raw = encode(message, version)
            if self._to_cut is not None and isinstance(message, self._to_cut[0]):
                self._cut, self._to_cut = written + min(self._to_cut[1], len(raw) - 1), None
            buffer += raw
            events.append(Event(seq, now, "in", message, raw, written))
            seq += 1
            written += len(raw)
        self._seq, self._written = seq, written
        self._happened(events)

    # --- the component speaks -----------------------------------------------------------------------------------

    def _hear(self, frames: list[Frame]) -> None:
        now, expecting_pid = self.now, self.judge.expecting_pid
        if len(frames) >= MANY and not expecting_pid:
            self._hear_all(frames, now)
            return
        for frame in frames:
            message = read_frame(frame, expecting_pid=expecting_pid)
            event = Event(self._seq, now, "out", message, frame.raw, frame.offset)
            self._seq += 1
            self._happened((event,))
            self._react(event, message)
            if expecting_pid:
                expecting_pid = self.judge.expecting_pid
                if isinstance(message, Pid):
                    self.pid = message.pid

    def _hear_all(self, frames: list[Frame], now: float) -> None:
        messages, raws, offsets = read_commands(frames), [f.raw for f in frames], [f.offset for f in frames]
        events = list(map(Event, count(self._seq), repeat(now), repeat("out"), messages, raws, offsets))
        self._seq += len(events)
        self._happened(events)
        ears = self.ears
        for event, message in zip(events, messages, strict=True):
            if (ear := ears.get(message.__class__)) is not None:
                ear(event, message)
            elif isinstance(message, Malformed):
                self._react(event, message)

    def _react(self, event: Event, message: FromComponent | Malformed) -> None:
        if (ear := self.ears.get(message.__class__)) is not None:
            ear(event, message)
        elif isinstance(message, Malformed):
            self.overflowed = self.overflowed or message.kind == "frame-too-long"
            for meant in taken(message, self.profile.kind, self.version).messages:
                self._react(event, meant)

    def pump(self, timeout: float, done: Callable[[], bool] | None = None) -> None:
        """Move bytes for at most `timeout` seconds: write what is queued, else read what is there.

        Returns after one round, at once if something could be written; with `done` it reads as well, if all was written
        and that was not all that is waited for.
        """
        if self._answers or self._queue:
            self._refill()
        unwritten = bool(self._buffer) and not self._closing
        if unwritten and self._write():
            if done is None or self._buffer or done():
                return
            unwritten = False
        self._read(self.process.poll(timeout, want_write=unwritten))

    def _read(self, ready: Ready) -> None:
        if ready.stderr:
            chunk = self.process.read_stderr()
            if chunk:
                self.note("err", Chunk(len(chunk)), chunk)
        if ready.stdout:
            data = self.process.read_stdout(self.sip)
            if data is None:
                self._end_of_output()
            elif data:
                self._after_death += len(data) if ready.exited else 0
                if not self._eof:
                    self._hear(self._framer.feed(data))
        # A descendant that holds stdout may write for ever: what the dead process can have left there is bounded.
        if ready.exited and not self._eof and (not ready.stdout or self._after_death > LAST_WORDS):
            self._end_of_output(whole=not ready.stdout)

    def _write(self) -> bool:
        """Write what fits; False if nothing did, so that there is something to wait for."""
        size = len(self._buffer)
        if self.piece or self._cut is not None:
            size = self._part()
            if not size:
                time.sleep(0)
                return False
        try:
            done = self.process.write(self._buffer if size == len(self._buffer) else bytes(self._buffer[:size]))
        except BrokenStdin as error:
            self._buffer.clear()
            self._queue.clear()
            self._answers.clear()
            self._await_death()
            self.note("process", WriteFailed(str(error)))
            return True
        del self._buffer[:done]
        return done > 0

    def _part(self) -> int:
        """How many bytes may be written now, where a message is written in parts; 0 while one is still to be read."""
        if self.piece:
            return 0 if self.process.stdin_unread() else self.piece
        ahead = (self._cut or 0) - (self._written - len(self._buffer))
        if ahead > 0:
            return min(ahead, len(self._buffer))
        if not waiting.reading(self.process):
            return 0
        self._cut = None
        return len(self._buffer)

    def _end_of_output(self, *, whole: bool = True) -> None:
        """End of file: the rest is a frame, if that is the whole of it; the process is dead or soon will be."""
        if self._eof:
            return
        self._eof = True
        rest = self._framer.close()
        if rest is not None and whole:
            self._hear([rest])
        self._await_death()
        if self._exit is None:
            self.note("process", StdoutClosed())

    def _await_death(self) -> None:
        """Stdout or stdin is closed: give the process a moment to be dead, so that its true end is told.

        What it still says is read meanwhile: a full pipe must not keep it alive.
        """
        until = self.now + self.profile.limits.get("grace", GRACE)
        while self._exit is None and (left := until - self.now) > 0:
            self._read(self.process.poll(left, want_write=False))
            self._take_exit(self.process.exited())

    def _take_exit(self, end: Exited | None) -> None:
        if end is not None and self._exit is None:
            self._exit = end
            self.note("process", end)
