"""A topology whose components answer in this process: what our engine does for a sentence is counted, and repeats.

Of two runs with one seed the second is like the first, so its components are given what theirs answered then, and cost
nothing. A component that was written to has answered by the next look: as where it has a CPU of its own.
"""

from __future__ import annotations

import re
import time
from collections import deque
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

import yaml

from benchmarks import sides, split_count
from benchmarks.stored import StoredProcess
from multilang_cli.driver.pipes import READY, TO_READ, Ready
from multilang_cli.protocol.words.events import Exited
from multilang_cli.topology.engine import workers
from multilang_cli.topology.engine.engine import Engine
from multilang_cli.topology.engine.setup import Goal, Setup, set_up
from multilang_cli.topology.flux import read_flux
from multilang_cli.topology.history_file import HistoryFile
from multilang_cli.topology.running import prepare
from multilang_cli.transcript.naming import HISTORY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ID = re.compile(rb'"id":"(-?\d+)"')
_VALUE = re.compile(rb'"tuple":\["([^"]*)"')
_SYNC = b'{"command":"sync"}\nend\n'
_WORDS = b"the cow jumped over the moon"


def _spout() -> Callable[[bytes], bytes]:
    numbers = count(1)

    def say(frame: bytes) -> bytes:
        """A sentence and a sync for each next, a sync for anything else."""
        if b'"next"' not in frame:
            return b"" if frame.startswith(b"[") else _SYNC
        return b'{"command":"emit","id":%d,"tuple":["%b"]}\nend\n%b' % (next(numbers), _WORDS, _SYNC)

    return say


def _split() -> Callable[[bytes], bytes]:
    def say(frame: bytes) -> bytes:
        """The words of a sentence, anchored to it, and its ack."""
        if (value := _VALUE.search(frame)) is None:
            return b""
        id_ = _id(frame)
        emit = b'{"command":"emit","anchors":["%b"],"tuple":["%b"]}\nend\n'
        return b"".join(emit % (id_, word) for word in value[1].split()) + b'{"command":"ack","id":"%b"}\nend\n' % id_

    return say


def _asking() -> Callable[[bytes], bytes]:
    tuples: deque[bytes] = deque()
    words: deque[bytes] = deque()
    emit = b'{"command":"emit","anchors":["%b"],"tuple":["%b"]}\nend\n'

    def say(frame: bytes) -> bytes:
        """The next word of the sentence that was sent first, if the task ids of the last word came; at last its ack."""
        if (value := _VALUE.search(frame)) is not None:
            tuples.append(_id(frame))
            words.append(value[1])
            return first() if len(tuples) == 1 else b""
        if not frame.startswith(b"["):
            return b""
        words[0] = words[0].partition(b" ")[2]
        if words[0]:
            return emit % (tuples[0], words[0].partition(b" ")[0])
        words.popleft()
        ack = b'{"command":"ack","id":"%b"}\nend\n' % tuples.popleft()
        return ack + first() if tuples else ack

    def first() -> bytes:
        """The first word of the sentence that is worked on now."""
        return emit % (tuples[0], words[0].partition(b" ")[0])

    return say


def _count() -> Callable[[bytes], bytes]:
    return lambda frame: b'{"command":"ack","id":"%b"}\nend\n' % _id(frame) if b'"tuple"' in frame else b""


def _id(frame: bytes) -> bytes:
    found = _ID.search(frame)
    return found[1] if found else b""


_COMPONENTS = {"sentence_spout": _spout, "split_bolt": _split, "ack_bolt": _count}
_ASKING = {**_COMPONENTS, "split_bolt": _asking}


class PlayedProcess(StoredProcess):
    """A component that answers each write at once; with a `tape` of what it answered before, it gives that."""

    def __init__(self, say: Callable[[bytes], bytes], tape: list[bytes], *, again: bool) -> None:
        super().__init__(tape if again else ())
        self._say = say
        self._tape = tape
        self._again = again
        self.said: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Take all of `data`, and answer it."""
        self.calls += 1
        if self._again:
            answer = next(self._answers)
        else:
            answer = self._answer(bytes(data))
            self._tape.append(answer)
        if answer:
            self.said.append(answer)
        return len(data)

    def _answer(self, data: bytes) -> bytes:
        if b'"pidDir"' in data:
            return b'{"pid":1}\nend\n'
        return b"".join(map(self._say, data.split(b"\nend\n")[:-1]))

    def read_stdout(self, _: int = 0) -> bytes:
        """All that it has answered and that was not read."""
        self.calls += 1
        said, self.said = b"".join(self.said), []
        return said

    def exchange(self, data: bytes, _: float) -> bytes:
        """Write, poll and read."""
        self.calls += 1
        self.write(data)
        return self.read_stdout()

    def poll(self, _: float | None, *, want_write: bool) -> Ready:
        """Say whether there is something to read; it can always be written to."""
        self.calls += 1
        return READY[want_write + 2 * bool(self.said)]

    def descriptors(self) -> tuple[None, ...]:
        """None: nothing of it is waited for."""
        return (None,) * 4

    def relation(self, _: int) -> str:
        """Its pid is its own."""
        return "self"

    def pid_file(self, _: int) -> str:
        """There is one, and it is empty."""
        return "empty"

    def signal(self, _: int) -> None:
        """Ignore it: `end` follows."""

    def end(self, **_: float) -> Exited:
        """It ends as it should."""
        return Exited(code=0)

    stderr_tail = b""


class Clock:
    """Goes by its readings, and by what is waited."""

    def __init__(self) -> None:
        self.t = 1.0

    def __call__(self) -> float:
        """The next time."""
        self.t += 1e-6
        return self.t


class PlayedTogether:
    """In place of `ProcessSelector`: whoever has said something is ready, in the order of the first watch."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watched: dict[Any, PlayedProcess] = {}
        self.calls = 0

    def watch(self, owner: Any, process: Any, **_: bool) -> None:
        """Look at a process as well."""
        self._watched[owner] = process

    def forget(self, owner: Any) -> None:
        """Look at it no longer."""
        self._watched.pop(owner, None)

    def wait(self, timeout: float) -> list[tuple[Any, Ready]]:
        """Give those that have said something; else the clock goes on by the `timeout`."""
        self.calls += 1
        ready = [(owner, TO_READ) for owner, process in self._watched.items() if process.said]
        if not ready:
            self._clock.t += timeout
        return ready


class StoredRun:
    """A run of split-count with so many sentences: it was made once, with other components, and `do` makes it again.

    `asking`: the bolt that emits waits for the task ids of each emit, as storm.py does.
    """

    def __init__(self, sentences: int, *, asking: bool = False) -> None:
        self._sentences = sentences
        self._components = _ASKING if asking else _COMPONENTS
        self._folder = sides.folder() / "played"
        self._folder.mkdir(exist_ok=True)
        self._tapes: dict[str, list[bytes]] = {}
        self._again = False
        self._started: list[PlayedProcess] = []
        self._setup = self._set_up()
        self._engine = self._made()
        self.do()
        self._again = True
        self._engine = self._made()

    def do(self) -> int:
        """Run it from the start of its components to its end; the calls of the system that this took."""
        self._started.clear()
        with patch.object(workers, "ComponentProcess", self), patch.object(time, "monotonic", self._clock):
            return self._run()

    def start(self, argv: Sequence[str], **_: object) -> PlayedProcess:
        """In place of `ComponentProcess.start`."""
        name = Path(argv[0]).name
        process = PlayedProcess(self._components[name](), self._tapes.setdefault(name, []), again=self._again)
        self._started.append(process)
        return process

    def _set_up(self) -> Setup:
        path, rulebook = self._folder / "topology.yaml", sides.rulebook()
        path.write_text(yaml.safe_dump(split_count.flux("C", self._sentences)), encoding="utf-8")
        topology = read_flux(path, resources=split_count.resources("C")).topology
        # No environment: what it takes to look for secrets in that of a machine is no part of the count.
        goal = Goal(messages=self._sentences)
        return set_up(topology, rulebook.newest, rulebook, self._folder, cwd=self._folder, env={}, goal=goal)

    def _made(self) -> Engine:
        prepare(self._folder)
        self._clock = Clock()
        engine = Engine(self._setup, acting=False)
        engine._start = self._clock()  # noqa: SLF001
        for name in ("_together", "_asking"):
            setattr(engine, name, PlayedTogether(self._clock))
        return engine

    def _run(self) -> int:
        engine = self._engine
        with HistoryFile(self._folder / HISTORY, self._setup.redactor()) as history:
            engine.keep = history.take_all
            outcome = engine.run()
        if not outcome.drained or outcome.why or engine.flow.unsettled:
            raise RuntimeError(f"the stored topology did not do well: {outcome}")
        looks = (cast("PlayedTogether", each).calls for each in (engine._together, engine._asking))  # noqa: SLF001
        return sum(looks) + sum(process.calls for process in self._started)
