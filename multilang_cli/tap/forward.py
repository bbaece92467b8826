"""The forwarding side of the tap: stands between Storm and its component, and hides nothing of either from the other.

Standard library only, one thread, one loop. Each read is written on before anything else is done; what passed is then
told to the recorder by way of a queue that never waits. A message of Storm's is told before the answer to it can be.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from multilang_cli.tap import feed as tap_feed
from multilang_cli.tap.lane import Lane

if TYPE_CHECKING:
    from multilang_cli.tap.child import Child
    from multilang_cli.tap.queue import RecordQueue

ENDS_TOGETHER = 0.05
"""Seconds after the end of a pipe of the component in which its death is told as one with that end."""
LAST_WORDS = 2 * 1024 * 1024
"""Bytes that are read from a pipe of a dead component: more than a pipe holds, should a descendant write for ever."""
_WITHOUT_PIDFD = 20
"""Milliseconds between looks at the component where the system can't wake us."""
_LOOKS_EVERY = 0.002
"""Seconds between looks at a component that may be about to die."""
_SIGNALLED = 128
_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL


class Forwarder:
    """The three lanes between Storm and a component, its signals and its end. `host_left`: Storm closed stdin first.

    `exit_ends`: the pipes of a component that dies end with our own exit. Whoever plays Storm, and waits for us to have
    recorded the rest, would else see pipes that are closed by a process that lives on.
    """

    def __init__(self, queue: RecordQueue, *, exit_ends: bool = False) -> None:
        self.host_left = False
        self._exit_ends = exit_ends
        self._queue = queue
        self._start = time.monotonic()
        self._code: int | None = None
        self._abandoned = False
        self._lengths: dict[int, int] = {}
        self._signals: list[tuple[float, int]] = []
        self._poller = select.poll()
        self._lanes: dict[int, tuple[Lane, bool]] = {}
        self._woken, wake = os.pipe()
        for fd in (self._woken, wake):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._poller.register(self._woken, select.POLLIN)

    @property
    def now(self) -> float:
        """Seconds since the tap began."""
        return time.monotonic() - self._start

    def on_signal(self, pid: int, number: int) -> None:
        """Hand a signal on to the component. Once that is dead, only we are left to be ended."""
        if self._code is not None:
            self._abandoned = True
            return
        # A component that runs as another user is beyond our reach, as it would be beyond Storm's.
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
        self._signals.append((self.now, number))

    def forward(self, child: Child, argv: list[str]) -> int:
        """Move bytes until the component is dead and what it wrote has passed; its exit code, 128 + n for signal n."""
        gc.disable()
        poller = self._poller
        into = Lane(tap_feed.IN, 0, child.stdin, poller, own=True, held=0 if self._exit_ends else -1)
        err = Lane(tap_feed.ERR, child.stderr, 2, poller, own=False)
        out = Lane(tap_feed.OUT, child.stdout, 1, poller, own=False, held=1 if self._exit_ends else -1)
        for lane in (into, err, out):
            self._lanes[lane.source], self._lanes[lane.sink] = (lane, True), (lane, False)
        if child.pidfd is not None:
            poller.register(child.pidfd, select.POLLIN)
        self._tell("started", argv=[_readable(word) for word in argv], pid=child.pid)
        while self._code is None:
            ready = self._round(None if child.pidfd is not None else _WITHOUT_PIDFD)
            if child.pidfd is None or child.pidfd in ready:
                self._look(child)
            for lane in (into, out):
                if lane.ended() and lane.held >= 0 and not self._dies_soon(child):
                    lane.let_go()
        into.break_off()
        code = self._code
        while not (self._abandoned or (out.done and err.done)):
            self._last_round(out, err)
        self._tell("exited", **({"code": code} if code >= 0 else {"signal": -code}))
        return code if code >= 0 else _SIGNALLED - code

    def _dies_soon(self, child: Child) -> bool:
        """Wait a moment for the death of a component of which a pipe has ended."""
        until = time.monotonic() + ENDS_TOGETHER
        while self._code is None and time.monotonic() < until:
            time.sleep(_LOOKS_EVERY)
            self._look(child)
        return self._code is not None

    def _last_round(self, *lanes: Lane) -> None:
        """Let what the dead component wrote pass; what is in its pipes is told at once, so no news is the end."""
        blocked = {lane.kind for lane in lanes if lane.blocked}
        ready = self._round(None if blocked else 0)
        for lane in lanes:
            # The source of a lane that was blocked was not looked at.
            silent = lane.kind not in blocked and lane.source not in ready
            enough = silent or lane.passed > self._lengths[lane.kind] + LAST_WORDS
            lane.done = lane.ended() or (enough and not lane.blocked)

    def _round(self, timeout: int | None) -> set[int]:
        """Wait until something can be done, and do it: signals, then bytes. Returns the descriptors that were ready."""
        queue = self._queue
        feed = queue.fd if queue.waiting else None
        if feed is not None:
            self._poller.register(feed, select.POLLOUT)
        events = self._poller.poll(timeout)
        if feed is not None:
            self._poller.unregister(feed)
        for fd, event in events:
            if (found := self._lanes.get(fd)) is not None:
                lane, is_source = found
                if not lane.ended():
                    self._serve(lane, is_source, event)
                    if lane.ended():
                        self._tell_end(lane)
            elif fd == self._woken:
                self._take_signals()
            elif fd == feed:
                queue.flush(self.now)
        return {fd for fd, _ in events}

    def _serve(self, lane: Lane, is_source: bool, event: int) -> None:
        if not is_source:
            if event & select.POLLOUT:
                lane.go_on()
            elif event & _GONE:
                lane.break_off()
        elif not lane.blocked:
            t = self.now
            data = lane.move()
            if data:
                self._queue.put(lane.kind, t, data)

    def _tell_end(self, lane: Lane) -> None:
        if lane.kind == tap_feed.IN and lane.end == "eof":
            self.host_left = True
            self._tell("stdin-closed")
        elif lane.kind == tap_feed.IN:
            self._tell("write-failed", error="broken pipe: nobody reads the component's stdin any more.")
        elif lane.kind == tap_feed.OUT:
            # With nobody there to read what it says, Storm is gone, and the component may go as well.
            self.host_left = self.host_left or lane.end == "broken"
            self._tell("stdout-closed" if lane.end == "eof" else "stdin-closed")

    def _take_signals(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._woken, 4096)
        while self._signals:
            t, number = self._signals.pop(0)
            self._queue.tell(t, "signalled", signal=number)

    def _look(self, child: Child) -> None:
        """See whether the component is dead."""
        pid, status = os.waitpid(child.pid, os.WNOHANG)
        if pid:
            self._code = os.waitstatus_to_exitcode(status)
            self._lengths = {lane.kind: lane.passed for lane, _ in self._lanes.values()}
            if child.pidfd is not None:
                self._poller.unregister(child.pidfd)

    def _tell(self, event: str, **fields: object) -> None:
        self._queue.tell(self.now, event, **fields)


def _readable(word: str) -> str:
    """A word of a command line: bytes that are no UTF-8 are escaped."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
