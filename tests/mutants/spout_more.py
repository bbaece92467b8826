"""A spout that is wrong in what only some cases ask: ``spout_more.py busy``. ``none`` has no bug.

It emits numbered pairs that ask for task ids, ten of them, then sleeps a little for each next. `MUTANTS` has each bug
with the case that shows it and the rule that the case names.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple


class Mutant(NamedTuple):
    """The rule that is broken, the case that shows it, in one line how."""

    rule: str
    case: str
    about: str
    accepts: str = ""


MUTANTS: dict[str, Mutant] = {
    "busy": Mutant("next-never-sleeps", "spout.next.thousand", "does not sleep when it has nothing"),
    "leaves-open": Mutant("holdings-grow", "spout.next.thousand", "opens its source at each next, and closes it never"),
    "counts-to-300": Mutant("exited", "spout.next.thousand", "dies of its 300th call of next"),
    "no-ids": Mutant("never-an-id", "spout.sync.next", "emits without ids"),
    "no-tasks": Mutant("exited", "spout.task-ids.empty", "takes the first of the task ids, which may be none"),
    "stays-closed": Mutant("exited", "spout.reactivate", "closes its source when deactivated, and can't open it again"),
    "forgets-when-idle": Mutant("sync-missing", "spout.reactivate", "does not answer acks while it is inactive"),
    "forgets-failed": Mutant("exited", "spout.id.again", "emits again what failed, and dies of the ack of it"),
    "read-is-next": Mutant("exited", "spout.cut.next", "takes what one read returns for a whole next"),
    "read-is-ack": Mutant("exited", "spout.cut.ack", "the same for acks"),
    "read-is-fail": Mutant("exited", "spout.cut.fail", "the same for fails"),
    "drops-when-full": Mutant("sync-missing", "stdout.slow-reader", "drops what does not fit into the pipe"),
    "direct-to-anybody": Mutant(
        "direct-task-unknown", "spout.emit.direct", "emits directly to a task of its own choice"
    ),
    "unlike-schema": Mutant("values-unlike-schema", "spout.emit.schema", "emits its number as a string"),
    "slow-next": Mutant("heartbeat-timeout", "spout.sync.next", "sleeps in next for longer than Storm waits"),
    "slow-ack": Mutant("heartbeat-timeout", "spout.sync.ack", "sleeps in ack for longer than Storm waits"),
    "slow-fail": Mutant("heartbeat-timeout", "spout.sync.fail", "sleeps in fail for longer than Storm waits"),
    "arity": Mutant("arity", "spout.emit.arity", "emits a value more than the stream has fields"),
    "stream": Mutant("stream-undeclared", "spout.emit.declared-streams", "emits on a stream that it did not declare"),
}

ENOUGH = 10
SLEEP = 2.5
"""Seconds: more than a subprocess timeout of 1 s, and the second after which Storm looks again."""


class Spout:
    """A right spout, but for `bug`."""

    def __init__(self, bug: str) -> None:
        self.bug = bug
        self.buffer = b""
        self.emitted = 0
        self.calls = 0
        self.active = True
        self.closed = False
        self.slept = False
        if bug == "drops-when-full":
            os.set_blocking(1, False)
        self.failed: list[int] = []
        self.forgotten: set[Any] = set()

    def read(self) -> Any:
        """Return the next message; exit at the end of stdin."""
        while b"\nend\n" not in self.buffer:
            data = os.read(0, 65_536)
            if not data:
                sys.exit(0)
            bugs = {"read-is-next": b'"next"', "read-is-ack": b'"ack"', "read-is-fail": b'"fail"'}
            if self.bug in bugs and bugs[self.bug] in data and not data.endswith(b"\nend\n"):
                sys.exit(f"no whole message: {data!r}")
            self.buffer += data
        text, _, self.buffer = self.buffer.partition(b"\nend\n")
        return json.loads(text)

    def send(self, message: Any) -> None:
        """Write a message."""
        data = json.dumps(message).encode() + b"\nend\n"
        while data:
            try:
                data = data[os.write(1, data) :]
            except BlockingIOError:
                return

    def emit(self, number: int) -> None:
        """Emit one pair, as the bug has it, and wait for its task ids."""
        out: dict[str, Any] = {"command": "emit", "id": f"id{number}", "tuple": ["word", number]}
        if self.bug == "no-ids":
            del out["id"]
        if self.bug == "direct-to-anybody":
            out |= {"stream": "jobs", "task": 77}
        if self.bug == "unlike-schema":
            out["tuple"] = ["word", str(number)]
        if self.bug == "arity":
            out["tuple"].append("more")
        if self.bug == "stream":
            out["stream"] = "nope"
        self.send(out)
        if "task" not in out:
            ids = self.read()
            if self.bug == "no-tasks":
                ids[0].bit_length()

    def next_tuple(self) -> None:
        """Emit a pair, or sleep a little."""
        self.calls += 1
        if self.closed or (self.bug == "counts-to-300" and self.calls == 300):
            sys.exit("it can't go on")
        if self.bug == "leaves-open":
            os.open(os.devnull, os.O_RDONLY)
        if self.bug == "drops-when-full":
            for _ in range(200):
                self.send({"command": "log", "msg": "so much to say"})
        if self.failed:
            self.emit(self.failed.pop(0))
        elif self.emitted < ENOUGH:
            self.emitted += 1
            self.emit(self.emitted)
        elif self.bug != "busy":
            time.sleep(0.002)

    def run(self) -> None:
        """Read and answer until the end of stdin."""
        hello = self.read()
        Path(hello["pidDir"], str(os.getpid())).touch()
        self.send({"pid": os.getpid()})
        while True:
            message = self.read()
            command = message["command"]
            if self.bug == f"slow-{command}" and not self.slept:
                self.slept = True
                time.sleep(SLEEP)
            if command == "next":
                self.next_tuple()
            elif command in ("ack", "fail"):
                if command == "ack" and message["id"] in self.forgotten:
                    sys.exit("no such id")
                if command == "fail":
                    self.failed.append(int(message["id"][2:]))
                    self.forgotten |= {message["id"]} if self.bug == "forgets-failed" else set()
                if self.bug == "forgets-when-idle" and not self.active:
                    continue
            else:
                self.active = command == "activate"
                self.closed = self.closed or (self.bug == "stays-closed" and not self.active)
            self.send({"command": "sync"})


if __name__ == "__main__":
    if sys.argv[1] not in MUTANTS and sys.argv[1] != "none":
        sys.exit(f"no such mutant: {sys.argv[1]}")
    Spout(sys.argv[1]).run()
