"""Bytes between one process and its judge: written and read, cut into frames, told to sinks."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace

from multilang_cli.driver import memory
from multilang_cli.driver.clock import Clock
from multilang_cli.driver.launch import readable
from multilang_cli.driver.process import READ_SIZE, BrokenStdin, ComponentProcess
from multilang_cli.driver.routing import Router
from multilang_cli.driver.stdin_queue import StdinQueue
from multilang_cli.driver.waits import describing
from multilang_cli.protocol.storm.reading import read_frame, read_frames
from multilang_cli.protocol.storm.taking import taken
from multilang_cli.protocol.wire.batches import Batch
from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT, LENGTHY, Frame, Framer, Frames
from multilang_cli.protocol.words.events import Chunk, Event, Exited, Signalled, Started, StdoutClosed, WriteFailed
from multilang_cli.protocol.words.messages import FromComponent, Malformed, Pid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.driver.pipes import Ready
    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.words.events import Channel, Fact
    from multilang_cli.protocol.words.messages import Emit, FromStorm, TaskIds
    from multilang_cli.protocol.words.verdicts import Finding

LAST_WORDS = 2 * 1024 * 1024
"""Bytes that are read from the pipe of a dead process: more than a pipe holds."""
DIES_WITHIN = 2.0
"""Seconds that a process with a closed stdout or stdin is given to be dead."""


Handler = Callable[[Any, int], None]
"""What is done about a message, given about how many bytes it has."""


MOST_FINDINGS = 10_000
"""Findings after which a component is not listened to any longer."""


class EventSink(Protocol):
    """Something that wants every event as it happens: a recorder, a display."""

    def take(self, events: Sequence[Event], findings: Sequence[Finding], /) -> None:
        """Take events that were judged together, and what was found in them. A finding's `seq` says in which."""


class OutOfTimeError(Exception):
    """The time that the whole command was given is over: no fault of the component."""


class Pump:
    """A running component and its judge.

    `stdin`: what is said to it; `findings` so far; `sinks` see every event. `read_size`: read so many bytes at a time.
    `overflowed`: a frame passed the limit; `flooded`: so much is wrong that more says nothing new; `without_reader`: it
    lives, and nobody reads its stdin: Storm's next write fails, and the worker dies. `handlers`: what ShellBolt or
    ShellSpout does about a message, by its class; `heard`: its frame, as long as they do it. `deaf_from`: the event
    from which on they do nothing, None for none: the worker they live in is dead. `tamper`: changes what is read, each
    piece of it. `until`: on the machine's clock, after which nothing is moved any more, and OutOfTimeError is raised.
    `memory`: what the process and its descendants may hold, in bytes; with more it is killed, and TooMuchMemoryError is
    raised.
    """

    __slots__ = (
        "_after_death",
        "_closing",
        "_eof",
        "_exit",
        "_framer",
        "_held_open",
        "_looked",
        "_own_handlers",
        "_router",
        "_seq",
        "_sinks",
        "clock",
        "deaf_from",
        "findings",
        "flooded",
        "handlers",
        "heard",
        "judge",
        "memory",
        "overflowed",
        "pid",
        "process",
        "profile",
        "read_size",
        "stdin",
        "tamper",
        "until",
        "version",
        "without_reader",
    )

    _ids_overtake = True
    """True if a thread of Storm's own writes what is queued, so that task ids may come before it."""
    _lengthy = LENGTHY
    """Bytes that may come together from which on they are read together."""
    _clock_runs_on = False
    """True if time goes by between two rounds as well: then somebody else decides when to look."""

    def __init__(self, process: ComponentProcess, judge: Conversation, sinks: Iterable[EventSink] = ()) -> None:
        self.process = process
        self.judge = judge
        self.profile = judge.profile
        self.version = judge.version
        self.findings: list[Finding] = []
        self.flooded = self.without_reader = self.overflowed = False
        self.read_size = READ_SIZE
        self.pid: int | None = None
        self.deaf_from: int | None = None
        self.heard = b""
        self.tamper: Callable[[bytes], bytes] | None = None
        self.until = self.memory = math.inf
        self.stdin = StdinQueue(self.version, overtaken=self._ids_overtake and self.version.task_ids == "overtake")
        self.clock = Clock(runs_on=self._clock_runs_on)
        self._own_handlers: dict[type, Handler] = {}
        self.handlers = self._own_handlers
        self._sinks = tuple(sinks)
        self._router = Router(self.profile)
        self._framer = Framer(int(self.profile.limits.get("frame", DEFAULT_LIMIT)), lengthy=self._lengthy)
        self._seq = 0
        self._looked = 0.0
        self._eof = self._closing = self._held_open = False
        self._after_death = 0
        self._exit: Exited | None = None
        self.note("process", Started(tuple(map(readable, process.argv)), process.pid))

    # --- events -------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Seconds since the conversation began."""
        return self.clock.now

    def note(self, channel: Channel, fact: Fact, raw: bytes = b"") -> list[Finding]:
        """Something happened that is no message."""
        event = Event(self._seq, self.now, channel, fact, raw)
        self._seq += 1
        return self._happened((event,))

    def _happened(self, events: Sequence[Event]) -> list[Finding]:
        """Have events judged, many at a time: it is several times faster than one by one."""
        found = self.judge.feed_all(events)
        if found or self.findings:
            self._found(found)
        for sink in self._sinks:
            sink.take(events, found)
        return found

    def _found(self, found: Sequence[Finding]) -> None:
        """Take the findings of the last events, maybe none: called from the first finding on."""
        self.findings += found
        self.flooded = len(self.findings) >= MOST_FINDINGS

    @property
    def next_seq(self) -> int:
        """The number that the next event will have."""
        return self._seq

    @property
    def running(self) -> bool:
        """True while the component can still say something."""
        return not (self._eof or self.overflowed or self.flooded or self.without_reader)

    @property
    def exit(self) -> Exited | None:
        """The end of the process, None while it runs."""
        return self._exit

    @property
    def spoken(self) -> tuple[int, int]:
        """Bytes of messages so far, by Storm and by the component."""
        return self.stdin.written, self._framer.offset

    @property
    def emitted(self) -> bool:
        """True if the component has emitted anything."""
        return False

    # --- what is heard ------------------------------------------------------------------------------------------

    def hold_output(self, *, hold: bool) -> None:
        """Leave the component's stdout unread, or read it again."""
        self.process.hold_stdout(hold=hold)

    def _hear(self, frames: Sequence[Frame]) -> None:
        """Have messages judged, and do what follows from them."""
        now = self.clock.now
        if frames and not self.judge.state.said:
            self._hear_first(frames[0], now)
            frames = frames[1:]
        if not frames:
            return
        said = read_frames(frames)
        events = self._events(frames, said, now)
        self._seq += len(events)
        found = self._happened(events)
        passed_over = self.judge.passed_over(found) if found else frozenset()
        if isinstance(events, Batch) and not passed_over:
            self._react_all(events)
            return
        for message, event in zip(said, events, strict=True):
            if self.deaf_from is not None and event.seq >= self.deaf_from:
                break
            if event.seq not in passed_over:
                self.heard = event.raw
                self._react(message, len(event.raw))

    def _hear_first(self, frame: Frame, now: float) -> None:
        """Take the first message for the answer to the handshake: Storm does nothing about what else it says."""
        message = read_frame(frame, expecting_pid=True)
        self.pid = message.pid if isinstance(message, Pid) else self.pid
        event = Event(self._seq, now, "out", message, frame.raw, frame.offset)
        self._seq += 1
        self._happened((event,))
        self.overflowed = isinstance(message, Malformed) and message.kind == "frame-too-long"

    def _events(self, frames: Sequence[Frame], said: Sequence[Any], now: float) -> Sequence[Event]:
        """The events of frames after the first, and of what they say; of a run as a batch."""
        if isinstance(frames, Frames):
            return Batch(self._seq, now, "out", said, data=frames.data, offset=frames.offset, texts=frames.texts)
        return [
            Event(seq, now, "out", message, frame.raw, frame.offset)
            for seq, (frame, message) in enumerate(zip(frames, said, strict=True), self._seq)
        ]

    def _react_all(self, batch: Batch) -> None:
        handlers, texts = self.handlers, batch.texts
        if self.deaf_from is not None:
            texts = texts[: max(0, self.deaf_from - batch.seq)]
        for message, text in zip(batch.bodies, texts, strict=False):
            if (handler := handlers.get(message.__class__)) is not None:
                self.heard = text
                handler(message, len(text))
            elif message.__class__ is Malformed:
                self._react(message, len(text))

    def _react(self, message: FromComponent | Malformed, size: int) -> None:
        if (handler := self.handlers.get(message.__class__)) is not None:
            handler(message, size)
        elif isinstance(message, Malformed):
            self.overflowed = self.overflowed or message.kind == "frame-too-long"
            for meant in taken(message, self.profile.kind, self.version).messages:
                self._react(meant, size)

    # --- what is said -------------------------------------------------------------------------------------------

    def say(self, message: FromStorm) -> None:
        """Queue a message; it is an event when it is put into the pipe."""
        self.stdin.queue.append(message)

    def say_bytes(self, said: Iterable[tuple[FromStorm | Malformed, bytes]]) -> None:
        """Write messages with bytes of their own, behind what is in the write buffer: nothing else may be queued."""
        events = self.stdin.put_raw(said, self._seq, self.now)
        self._seq += len(events)
        self._happened(events)

    def route(self, emit: Emit) -> TaskIds | None:
        """Send the tuple of an emit where it goes, if there is more than this component; the answer, None for none."""
        return self._router.answer(emit) if emit.need_task_ids and not emit.task else None

    @property
    def idle(self) -> bool:
        """True if Storm has nothing left to say."""
        return not (self.stdin.queue or self.stdin.answers)

    def _fill(self) -> None:
        """Put messages into the write buffer: all that were put one by one are judged together."""
        for events in self.stdin.fill(self._seq, self.now):
            self._seq += len(events)
            self._happened(events)

    def _write(self) -> bool:
        """Write what fits; False if nothing did, so that there is something to wait for."""
        out = self.stdin
        data = out.buffer
        if out.pieces.any:
            data = data[: out.pieces.size(self.process, data, out.written, self.now)]
            if not data:
                time.sleep(0)
                return False
        try:
            done = self.process.write(data)
        except BrokenStdin as error:
            self._give_up_stdin(str(error))
            return True
        del out.buffer[:done]
        out.pieces.took(all_of_it=not out.buffer)
        return done > 0

    def _give_up_stdin(self, why: str) -> None:
        """Nobody reads it any more: Storm dies of its next write, and is not heard by who lives on."""
        self.stdin.drop()
        # What no pipe took is told as unread when it is dead.
        self._await_death()
        self.stdin.buffer.clear()
        self.note("process", WriteFailed(why))
        self.without_reader = self._exit is None

    # --- one round ----------------------------------------------------------------------------------------------

    def pump(self, timeout: float, done: Callable[[], bool] | None = None) -> None:
        """Move bytes for at most `timeout` seconds: write what is queued, else read what is there.

        Returns after one round, at once if something could be written; with `done` it reads as well, if all was written
        and that was not all that is waited for. Raises OutOfTimeError after `until`, and
        TooMuchMemoryError.
        """
        self._keep_bounds(time.monotonic())
        out = self.stdin
        if out.answers or out.queue:
            self._fill()
        unwritten = bool(out.buffer) and not self._closing
        if unwritten and self._write():
            if done is None or out.buffer or done():
                return
            unwritten = False
        self.hear(self._poll(timeout, want_write=unwritten))

    def _poll(self, timeout: float, *, want_write: bool = False) -> Ready:
        self.clock.will_wait(timeout)
        return self.process.poll(timeout, want_write=want_write)

    def _keep_bounds(self, now: float) -> None:
        if now >= self.until:
            raise OutOfTimeError
        if now - self._looked >= memory.LOOKS_EVERY and self.memory < math.inf:
            self._looked = now
            self._look_at_memory()

    def _look_at_memory(self) -> None:
        held = memory.held_by(self.process.pid, self.memory)
        if held > self.memory:
            # It was not the component that ended itself.
            self.note("process", Signalled(signal.SIGKILL))
            self.process.signal(signal.SIGKILL)
            raise memory.TooMuchMemoryError(held, self.memory)

    def push(self) -> bool:
        """Write all that the pipe takes now; True if something is left. With `hear`, one round for who polls itself."""
        while self.stdin.unwritten:
            self._fill()
            if self._closing or not self._write():
                return bool(self.stdin.buffer)
        return False

    def hear(self, ready: Ready) -> None:
        """Read what is there."""
        if ready.stderr:
            chunk = self.process.read_stderr()
            if chunk:
                self.note("err", Chunk(len(chunk)), chunk)
        if ready.stdout:
            data = self.process.read_stdout(self.read_size)
            if data is None:
                self._end_of_output()
            elif data:
                data = data if self.tamper is None else self.tamper(data)
                self._after_death += len(data) if ready.exited else 0
                if not self._eof:
                    self._hear(self._framer.feed(data))
        # A descendant that holds stdout may write for ever: what the dead process can have left there is bounded.
        if ready.exited and not self._eof and (not ready.stdout or self._after_death > LAST_WORDS):
            self._held_open = True
            self._end_of_output(whole=not ready.stdout)

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
        until = self.now + self.profile.limits.get("grace", DIES_WITHIN)
        while self._exit is None and (left := until - self.now) > 0:
            self.hear(self._poll(left))
            self._take_exit(self.process.exited())

    def _take_exit(self, end: Exited | None) -> None:
        if end is not None and self._exit is None:
            if self._held_open:
                end = replace(end, holders=describing.holders(self.process))
            if unread := (self.process.stdin_unread() or 0) + len(self.stdin.buffer):
                end = replace(end, unread=unread)
            self._exit = end
            self.note("process", end)
