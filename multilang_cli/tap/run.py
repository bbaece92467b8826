"""The tap: stands in the topology in place of a component, and records what Storm and the component say.

Three processes: this one forwards; the component behind it; and a recorder, which is told what passed and may be slow,
fail or be killed without anybody noticing but those who read its files.
"""

from __future__ import annotations

import errno
import os
import random
import resource
import select
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from multilang_cli.driver.pipes import PIPE_SIZE, resize
from multilang_cli.driver.reaper import COOKIE_PREFIX
from multilang_cli.tap import child as tap_child
from multilang_cli.tap.feed import Unpacker
from multilang_cli.tap.forward import Forwarder
from multilang_cli.tap.queue import RecordQueue
from multilang_cli.transcript.private import make_private

if TYPE_CHECKING:
    from multilang_cli.tap.plan import TapPlan

GATHERS_FOR = 0.005
"""Seconds that the recorder lets records gather, so that it does not wake for each message."""
STATUS_EVERY = 1.0
"""Seconds after which files and status are brought up to date."""
RECORDED_WITHIN = 30
"""Seconds in which what is still to be recorded must be told, once the component is dead."""
RECORDER_LIMIT = 5.0
"""Seconds that the tap waits for its recorder, where nobody waits for the tap."""
MUCH_ROOM = 1024 * 1024
"""Bytes of room below which it is said at once that a recording may be cut."""
_NICE = 5


class _Helper(NamedTuple):
    pid: int
    queue: RecordQueue


def tap(plan: TapPlan) -> NoReturn:
    """Be the component of `plan`, until it ends; the exit code is its own, 128 + n for signal n.

    Raises LaunchError if it can't be started; nothing else is a reason to fail.
    """
    env = tap_child.original_environment()
    words = list(plan.command)
    _open_all()
    if random.random() >= plan.sample:  # noqa: S311 (a sample, no secret)
        tap_child.replace(words, env)
    terminal = os.isatty(0) or os.isatty(2)
    helper = _recorder(plan._replace(warned=_warn(plan)))
    played = any(name.startswith(os.fsencode(COOKIE_PREFIX)) for name in env)
    forwarder = Forwarder(helper.queue, exit_ends=played)
    child = tap_child.start(words, env, forwarder.on_signal)
    code = forwarder.forward(child, words)
    if not played:
        _close_all()
    with suppress(Exception):  # whatever it is, the exit code is the component's
        _finish(helper, forwarder.now, patient=forwarder.host_left or terminal or played)
    os._exit(code)


def why_not_recorded(folder: Path) -> str:
    """The reason why nothing can be written to a folder, which is made; "" if something can."""
    try:
        make_private(folder)
        if not os.access(folder, os.W_OK | os.X_OK):
            return os.strerror(errno.EACCES)
        room = os.statvfs(folder)
    except OSError as error:
        return error.strerror or str(error)
    # A file system that does not count its files has none left, and none in all.
    full = room.f_bavail == 0 or (room.f_favail == 0 and room.f_files > 0)
    return os.strerror(errno.ENOSPC) if full else ""


def room_in(folder: Path) -> int:
    """Bytes that a file may have, by the room in its folder and the limit of a process; MUCH_ROOM if more."""
    room = os.statvfs(folder)
    longest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return min(room.f_bavail * room.f_frsize, MUCH_ROOM if longest == resource.RLIM_INFINITY else longest, MUCH_ROOM)


def _warn(plan: TapPlan) -> bool:
    """Say on stderr, which Storm logs, that nothing will be recorded, or not much: true if it is nothing.

    Of a component that ends at once its stderr is closed before it is known whether its recording could be written.
    """
    if plan.kafka:
        return False
    why = why_not_recorded(plan.folder)
    with suppress(OSError):
        room = MUCH_ROOM if why else room_in(plan.folder)
        little = f"there is room for {room} bytes alone, and what comes later is lost" if room < MUCH_ROOM else ""
        poller = select.poll()
        poller.register(2, select.POLLOUT)
        if (why or little) and poller.poll(0):
            told = f"nothing is recorded: {_shown(plan.folder)}: {why}" if why else f"{_shown(plan.folder)}: {little}"
            os.write(2, f"mlcheck tap: {told}\n".encode())
    return bool(why)


def _shown(folder: Path) -> str:
    return ascii(str(folder))[1:-1]


def _close_all() -> None:
    """Let Storm see the end of stdout and stderr, and that nobody reads."""
    for fd in (1, 0, 2):
        with suppress(OSError):
            os.close(fd)


def _open_all() -> None:
    """Make sure that nothing we open gets the number of stdin, stdout or stderr."""
    fd = os.open(os.devnull, os.O_RDWR)
    while fd <= 2:  # noqa: PLR2004 (stderr)
        os.set_inheritable(fd, True)
        fd = os.open(os.devnull, os.O_RDWR)
    os.close(fd)


def _recorder(plan: TapPlan) -> _Helper:
    """Start the recorder, if the system lets us; else there is none."""
    try:
        read, write = os.pipe()
    except OSError:
        return _Helper(0, RecordQueue(None))
    resize(write, PIPE_SIZE)
    tap, started = os.getpid(), datetime.now(UTC)
    sys.stderr.flush()
    try:
        pid = os.fork()
    except OSError:
        os.close(read)
        os.close(write)
        return _Helper(0, RecordQueue(None))
    if not pid:
        try:
            _detach({read}, keep_stderr=plan.verbose)
            _record(read, plan, tap, started)
        finally:
            os._exit(0)
    os.close(read)
    return _Helper(pid, RecordQueue(write))


def _detach(keep: set[int], *, keep_stderr: bool = False) -> None:
    """Leave Storm's pipes, signals and process group: nothing of a helper may hold or end anybody else."""
    os.setsid()
    for number in tap_child.FORWARDED:
        signal.signal(number, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1) if keep_stderr else (0, 1, 2):
        os.dup2(nowhere, fd)
    edges = [2, *sorted(keep), os.sysconf("SC_OPEN_MAX")]
    for low, high in pairwise(edges):
        os.closerange(low + 1, high)


def _record(fd: int, plan: TapPlan, tap: int, started: datetime) -> None:
    """Be the recorder, until the tap is no more. Where memory runs out, it goes before the component does."""
    with suppress(OSError):
        os.nice(_NICE)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    from multilang_cli.tap.recorder import Recorder  # noqa: PLC0415 (slow; the component runs meanwhile)
    from multilang_cli.transcript.secrets import declare  # noqa: PLC0415

    declare([os.environ], plan.command)
    recorder, unpacker = Recorder(plan, tap, started), Unpacker()
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    shown, news = time.monotonic(), True
    while True:
        if news and time.monotonic() - shown > STATUS_EVERY:
            recorder.flush()
            shown, news = time.monotonic(), False
        if not poller.poll(STATUS_EVERY * 1000 if news else None):
            continue
        data = os.read(fd, PIPE_SIZE)
        if not data:
            break
        recorder.take(unpacker.feed(data))
        news = True
        if len(data) < PIPE_SIZE // 4:
            time.sleep(GATHERS_FOR)
    recorder.end()


def _finish(helper: _Helper, t: float, *, patient: bool) -> None:
    """Have the rest recorded. Only if `patient` this is waited for: Storm may be asking for the exit code.

    mlcheck, where it plays Storm, ends what a component leaves behind, the recorder as well: it waits with open pipes.
    """
    queue = helper.queue
    if queue.waiting and not os.fork():
        try:
            _detach({queue.fd} if queue.fd is not None else set())
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(RECORDED_WITHIN)
            queue.drain(t)
        finally:
            os._exit(0)
    queue.close()
    until = time.monotonic() + RECORDER_LIMIT
    while patient and helper.pid and time.monotonic() < until and not os.waitpid(helper.pid, os.WNOHANG)[0]:
        time.sleep(GATHERS_FOR)
