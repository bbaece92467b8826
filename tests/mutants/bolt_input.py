"""A bolt that is wrong about what it reads or is answered: ``bolt_input.py cuts-characters``. ``none`` has no bug.

It echoes its values in an emit that asks for task ids, then acks. `MUTANTS` has each bug with the case that shows it
and the rule that the case names.
"""

from __future__ import annotations

import json
import locale
import os
import select
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

READ = 65_536


class Mutant(NamedTuple):
    """The rule that is broken, the case that shows it, in one line how; `accepts`: what it must be said to take."""

    rule: str
    case: str
    about: str
    accepts: str = ""


MUTANTS: dict[str, Mutant] = {
    "cuts-characters": Mutant("exited", "bolt.cut.tuple-non-ascii", "decodes the bytes of each read by themselves"),
    "damages-characters": Mutant("text-damaged", "bolt.cut.tuple-non-ascii", "the same, and replaces what is cut"),
    "cuts-characters-of-conf": Mutant("exited", "handshake.piecewise-non-ascii", "the same, in the handshake only"),
    "read-is-a-message": Mutant("exited", "bolt.cut.tuple", "takes what one read returns for whole messages"),
    "read-is-a-heartbeat": Mutant("exited", "bolt.cut.heartbeat", "the same for heartbeats only"),
    "read-is-task-ids": Mutant("exited", "bolt.cut.task-ids", "the same while it waits for task ids"),
    "one-sync-for-all": Mutant(
        "heartbeat-unanswered", "bolt.heartbeat.around-tuple", "answers heartbeats that come together with one sync"
    ),
    "deaf-when-busy": Mutant(
        "heartbeat-unanswered", "bolt.heartbeat.behind-backlog", "drops a heartbeat while more than 50 tuples wait"
    ),
    "fails-heartbeats": Mutant("heartbeat-acked", "bolt.heartbeat.not-settled", "fails each second heartbeat"),
    "ignores-ticks": Mutant("tuple-unsettled", "bolt.tick", "filters ticks out, and never acks them", "ticks"),
    "ids-are-numbers": Mutant("ack-unknown", "bolt.settle.ids", "keeps ids as floats"),
    "emits-late": Mutant("anchor-settled", "bolt.emit.before-settling", "emits when the next tuple comes"),
    "locale": Mutant("exited", "bolt.emit.unicode-c-locale", "decodes by the locale"),
    "locale-conf": Mutant("exited", "handshake.non-ascii-conf-c-locale", "the same, in the handshake only"),
    "64k-conf": Mutant("exited", "handshake.large-conf", "has a buffer of 64 KiB for the handshake"),
    "ascii-conf": Mutant("exited", "handshake.non-ascii-conf", "decodes the handshake as ASCII"),
    "read-is-the-conf": Mutant("exited", "handshake.piecewise", "takes what its first read returns for the handshake"),
    "drops-while-starting": Mutant(
        "tuple-unsettled", "handshake.first-tuple", "empties its stdin once it is ready, a moment after its pid"
    ),
    "64k": Mutant("exited", "bolt.value.large", "has a buffer of 64 KiB for a line", "large"),
    "int32": Mutant("exited", "bolt.value.integers", "takes integers of 32 bits only", "integers"),
    "rounds-integers": Mutant("integer-damaged", "bolt.value.integers", "keeps integers as doubles", "integers"),
    "no-fractions": Mutant("exited", "bolt.value.floats", "takes no fractions", "floats"),
    "no-null": Mutant("exited", "bolt.value.null", "dies of null", "null"),
    "no-nested": Mutant("exited", "bolt.value.nested", "dies of a list among the values", "nested"),
    "no-empty": Mutant("exited", "bolt.value.empty", "dies of a tuple without values", "empty"),
    "fixed-arity": Mutant("exited", "bolt.value.arity", "dies of a tuple with other than two values", "arity"),
    "no-tasks": Mutant("exited", "bolt.task-ids.empty", "takes the first of the task ids, which may be none"),
    "drops-when-full": Mutant("tuple-unsettled", "stdout.slow-reader", "drops what does not fit into the pipe"),
    "direct-to-anybody": Mutant("direct-task-unknown", "bolt.emit.direct", "emits directly to a task that is none"),
    "unlike-schema": Mutant("values-unlike-schema", "bolt.emit.schema", "emits the second value as a string"),
    "small-context": Mutant("exited", "handshake.context", "expects one grouping only, the shuffle grouping"),
}


class Bolt:
    """A right bolt, but for `bug`."""

    def __init__(self, bug: str) -> None:
        self.bug = bug
        self.buffer: Any = "" if "-characters" in bug else b""
        self.shaken = False
        self.waiting: deque[Any] = deque()
        self.late: list[dict[str, Any]] = []
        self.beats = 0
        if bug == "drops-when-full":
            os.set_blocking(1, False)

    def line(self) -> bytes:
        """Return the next line, without its end."""
        by_read = self.bug in ("cuts-characters", "damages-characters") or (
            self.bug == "cuts-characters-of-conf" and not self.shaken
        )
        while b"\n" not in (self.buffer.encode() if isinstance(self.buffer, str) else self.buffer):
            data = os.read(0, READ)
            if not data:
                sys.exit(0)
            self.check_read(data)
            if by_read:
                self.buffer += data.decode(errors="replace" if self.bug == "damages-characters" else "strict")
            else:
                self.buffer = (self.buffer.encode() if isinstance(self.buffer, str) else self.buffer) + data
        whole = self.buffer.encode() if isinstance(self.buffer, str) else self.buffer
        line, _, rest = whole.partition(b"\n")
        self.buffer = rest.decode() if by_read else rest
        return bytes(line)

    def check_read(self, data: bytes) -> None:
        """Die of what this bolt believes that a read must return."""
        if self.bug == "read-is-the-conf" and not self.shaken and not data.endswith(b"\nend\n"):
            sys.exit(f"no whole handshake: {data[-20:]!r}")
        bugs = {"read-is-a-message": b'"stream":"default"', "read-is-a-heartbeat": b'"stream":"__heartbeat"'}
        if self.bug in bugs and bugs[self.bug] in data and not data.endswith(b"\nend\n"):
            sys.exit(f"no whole message: {data[-20:]!r}")

    def read(self) -> Any:
        """Return the next message."""
        lines = []
        while (line := self.line()) != b"end":
            if len(line) > READ and (self.bug == "64k" or (self.bug == "64k-conf" and not self.shaken)):
                sys.exit("a line of more than 64 KiB")
            lines.append(line)
        text = b"\n".join(lines)
        if self.bug == "ascii-conf" and not self.shaken:
            return json.loads(text.decode("ascii"))
        if (self.bug == "locale" and self.shaken) or (self.bug == "locale-conf" and not self.shaken):
            name = "ascii" if os.environ.get("LC_ALL") == "C" else locale.getencoding()
            return json.loads(text.decode(name))
        return json.loads(text)

    def send(self, message: Any) -> None:
        """Write a message; all of it, but for one bug."""
        data = json.dumps(message, ensure_ascii=self.bug != "64k").encode() + b"\nend\n"
        while data:
            try:
                data = data[os.write(1, data) :]
            except BlockingIOError:
                return

    def handshake(self) -> None:
        """Make the pid file and say the pid."""
        message = self.read()
        groupings = message["context"].get("stream->target->grouping", {})
        kinds = {grouping["type"] for targets in groupings.values() for grouping in targets.values()}
        if self.bug == "small-context" and kinds - {"SHUFFLE", "DIRECT"}:
            sys.exit(f"unknown groupings: {kinds}")
        Path(message["pidDir"], str(os.getpid())).touch()
        self.send({"pid": os.getpid()})
        self.shaken = True
        if self.bug == "drops-while-starting":
            time.sleep(0.3)
            while select.select([0], [], [], 0)[0] and os.read(0, READ):
                pass

    def task_ids(self) -> Any:
        """Wait for task ids, keeping what comes before them."""
        while True:
            if self.bug == "read-is-task-ids" and not self.buffer:
                data = os.read(0, READ)
                if data.startswith(b"[") and not data.endswith(b"end\n"):
                    sys.exit("no whole list")
                self.buffer = data
            message = self.read()
            if isinstance(message, list):
                return message
            if self.bug != "deaf-when-busy" or len(self.waiting) < 50 or message["stream"] != "__heartbeat":
                self.waiting.append(message)

    def die_of(self, values: list[Any]) -> None:
        """Die of values that this bolt does not take."""
        numbers = [value for value in values if isinstance(value, int | float)]
        wrong = {
            "int32": any(isinstance(n, int) and abs(n) >= 2**31 for n in numbers),
            "no-fractions": any(isinstance(n, float) for n in numbers),
            "no-null": None in values,
            "no-nested": any(isinstance(value, list | dict) for value in values),
            "no-empty": not values,
            "fixed-arity": len(values) != 2,
        }
        if wrong.get(self.bug):
            sys.exit(f"what is this? {values!r}"[:200])

    def emit(self, message: dict[str, Any]) -> None:
        """Echo the values."""
        values = message["tuple"]
        out: dict[str, Any] = {"command": "emit", "anchors": [message["id"]], "tuple": values}
        if self.bug == "unlike-schema":
            out["tuple"] = [*values[:1], str(values[-1])]
        if self.bug == "rounds-integers":
            out["tuple"] = [int(float(value)) if isinstance(value, int) else value for value in values]
        if self.bug == "direct-to-anybody":
            out |= {"stream": "jobs", "task": 77}
        if self.bug == "drops-when-full":
            out["need_task_ids"] = False
        self.send(out)
        if not out.keys() & {"task", "need_task_ids"}:
            ids = self.task_ids()
            if self.bug == "no-tasks":
                ids[0].bit_length()

    def process(self, message: dict[str, Any]) -> None:
        """Echo and ack a tuple, as the bug has it."""
        if message["stream"] == "__tick":
            if self.bug != "ignores-ticks":
                self.send({"command": "ack", "id": message["id"]})
            return
        self.die_of(message["tuple"])
        if self.bug == "emits-late":
            for late in self.late:
                self.emit(late)
            self.late = [message]
        else:
            self.emit(message)
        identity = message["id"]
        self.send({"command": "ack", "id": str(int(float(identity))) if self.bug == "ids-are-numbers" else identity})

    def heartbeat(self, message: dict[str, Any]) -> None:
        """Answer a heartbeat, as the bug has it."""
        self.beats += 1
        if self.bug == "fails-heartbeats" and self.beats % 2 == 0:
            self.send({"command": "fail", "id": message["id"]})
        if self.bug == "one-sync-for-all" and b"__heartbeat" in self.buffer:
            return
        self.send({"command": "sync"})

    def run(self) -> None:
        """Read and answer until the end of stdin."""
        self.handshake()
        while True:
            message = self.waiting.popleft() if self.waiting else self.read()
            if isinstance(message, list):
                continue
            if message["stream"] == "__heartbeat" and message["task"] == -1:
                self.heartbeat(message)
            else:
                self.process(message)


if __name__ == "__main__":
    if sys.argv[1] not in MUTANTS and sys.argv[1] != "none":
        sys.exit(f"no such mutant: {sys.argv[1]}")
    Bolt(sys.argv[1]).run()
