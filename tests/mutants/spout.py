"""The smallest spout, with a bug of your choice: ``spout.py sync-twice``. ``spout.py none`` has none.

It emits three sentences, again those that fail, and then has nothing to emit. `MUTANTS` has all bugs, with the rule
that each breaks.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

SENTENCES = ("the cow jumped over the moon", "snow white and the seven dwarfs", "four score and seven years ago")
COMMANDS = ("next", "ack", "fail", "activate", "deactivate")
LINGER = 120
"""Seconds that a mutant lives on at most where it should have ended: nothing stays behind if nobody kills it."""


class Mutant(NamedTuple):
    """The rule that is broken, in one line how, and the bug itself where it is data."""

    rule: str
    about: str
    bug: Any = None


# Changed fields of an emit; None takes a field away.
FIELDS: dict[str, Mutant] = {
    "object-id": Mutant("message-id-type", "the id is an object", {"id": {"offset": 7}}),
    "bool-id": Mutant("message-id-type", "the id is true", {"id": True}),
    "id-reused": Mutant("message-id-reused", "the same id for each tuple", {"id": "1"}),
    "misspelt-command": Mutant("command-unknown", "says emitt", {"command": "emitt"}),
    "tuple-as-string": Mutant("tuple-type", "the tuple is a bare string", {"tuple": "the cow"}),
    "undeclared-stream": Mutant("stream-undeclared", "emits on a stream that it did not declare", {"stream": "nope"}),
    "wrong-arity": Mutant("arity", "two values more than the stream has fields", {"tuple": ["a", "b", "c"]}),
    "ids-ignored": Mutant("ids-ignored", "has task ids sent, and never looks at them", {"need_task_ids": None}),
}

# A command instead of the sync, and for which commands.
UNANSWERED: dict[str, Mutant] = {
    f"no-sync-{command}": Mutant("sync-missing", f"does not answer {command}", command) for command in COMMANDS
}

# A message sent before the sync that answers `next`.
EXTRAS: dict[str, Mutant] = {
    "uses-ack-command": Mutant("spout-settles", "acks its own tuple", {"command": "ack", "id": "1"}),
    "unknown-command": Mutant("command-unknown", "a command that Storm does not know", {"command": "done"}),
    "sync-twice": Mutant("sync-extra", "two syncs for each next", {"command": "sync"}),
    "level-as-word": Mutant("log-level", "logs at level info", {"command": "log", "msg": "m", "level": "info"}),
    "metric-unknown": Mutant("metric-unregistered", "a metric nobody registered", {"command": "metrics", "name": "n"}),
}

# What the spout does: looked up where it is done.
DEEDS: dict[str, Mutant] = {
    "pid-late": Mutant("handshake-silent", "says its pid only after the first command"),
    "log-before-pid": Mutant("pid-not-first", "logs before it says its pid"),
    "print": Mutant("stdout-text", "prints what it emits"),
    "sync-before-emit": Mutant("output-after-sync", "sync first, then the emit"),
    "log-after-sync": Mutant("log-after-sync", "logs after the sync"),
    "sync-unasked": Mutant("sync-extra", "a sync after the handshake that answers nothing"),
    "id-retyped": Mutant("exited", "emits its ids as numbers, keeps them as strings, and dies of the first ack"),
    "exits-after-5": Mutant("exited", "exits after five commands"),
    "exits-when-empty": Mutant("exited", "exits when it has nothing more to emit"),
    "waits-for-ids-only": Mutant("ackers-zero", "drops all but task ids while it waits for them: the ack of ackers=0"),
    "emit-burst": Mutant("emit-burst", "10,000 tuples in one next, and reads none of their task ids meanwhile"),
    "stderr-flood": Mutant("stderr-flood", "1 MB of debug output on stderr in each next"),
    "ignores-eof": Mutant("outlives-stdin", "goes on when stdin has ended"),
    "ignores-sigterm": Mutant("outlives-sigterm", "ignores SIGTERM"),
}

MUTANTS: dict[str, Mutant] = FIELDS | UNANSWERED | EXTRAS | DEEDS


class Spout:
    """A right spout, but for `bug`."""

    def __init__(self, bug: str) -> None:
        self.bug = bug
        self.commands = 0
        self.waiting = [(str(number), sentence) for number, sentence in enumerate(SENTENCES, start=1)]
        self.pending: dict[str, str] = {}

    def read(self) -> Any:
        """Return the next message; exit at the end of stdin."""
        lines: list[bytes] = []
        while (line := sys.stdin.buffer.readline()) != b"end\n":
            if not line:
                time.sleep(LINGER if self.bug == "ignores-eof" else 0)
                sys.exit(0)
            lines.append(line)
        return json.loads(b"".join(lines))

    def write(self, data: bytes) -> None:
        """Write bytes, whole."""
        while data:
            data = data[os.write(1, data) :]

    def send(self, message: Any) -> None:
        """Write a message as it should be."""
        self.write(json.dumps(message, separators=(",", ":")).encode() + b"\nend\n")

    def handshake(self) -> None:
        """Make the pid file and say the pid."""
        pid = os.getpid()
        Path(self.read()["pidDir"], str(pid)).touch()
        if self.bug == "log-before-pid":
            self.send({"command": "log", "msg": "starting"})
        if self.bug == "pid-late":
            self.read()
        self.send({"pid": pid})
        if self.bug == "sync-unasked":
            self.send({"command": "sync"})

    def emit(self, identity: str, sentence: str) -> None:
        """Emit one sentence, as its bug has it."""
        self.pending[identity] = sentence
        message: dict[str, Any] = {"command": "emit", "id": identity, "tuple": [sentence], "need_task_ids": False}
        if self.bug == "id-retyped":
            message["id"] = int(identity)
        if self.bug in ("waits-for-ids-only", "emit-burst"):
            message["need_task_ids"] = True
        message |= FIELDS[self.bug].bug if self.bug in FIELDS else {}
        self.send({key: value for key, value in message.items() if value is not None})
        while self.bug == "waits-for-ids-only" and not isinstance(self.read(), list):
            pass

    def next_tuple(self) -> None:
        """Emit a sentence, or nothing after a short sleep."""
        if self.bug == "print":
            self.write(b"next, please\n")
        if self.bug == "stderr-flood":
            os.write(2, b"debug: about to emit\n" * 50_000)
        if self.bug == "sync-before-emit":
            self.send({"command": "sync"})
        if self.waiting:
            self.emit(*self.waiting.pop(0))
        elif self.bug == "exits-when-empty":
            sys.exit(0)
        else:
            time.sleep(0.001)
        for number in range(10_000 if self.bug == "emit-burst" else 0):
            self.emit(f"burst-{self.commands}-{number}", SENTENCES[0])

    def settle(self, command: str, identity: Any) -> None:
        """Forget a sentence, or put it back."""
        if self.bug == "id-retyped" and identity not in self.pending:
            sys.exit(f"no such id: {identity}")
        sentence = self.pending.pop(identity, None)
        if command == "fail" and sentence is not None:
            self.waiting.append((identity, sentence))

    def sync(self, command: str) -> None:
        """End the answer to a command, as its bug has it."""
        if command == "next" and self.bug in EXTRAS:
            self.send(EXTRAS[self.bug].bug)
        unanswered = self.bug in UNANSWERED and UNANSWERED[self.bug].bug == command
        if not unanswered and not (command == "next" and self.bug == "sync-before-emit"):
            self.send({"command": "sync"})
        if self.bug == "log-after-sync":
            self.send({"command": "log", "msg": "done"})

    def run(self) -> None:
        """Read and answer until the end of stdin."""
        if self.bug == "ignores-sigterm":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.handshake()
        while True:
            message = self.read()
            if isinstance(message, list):
                continue
            self.commands += 1
            if self.bug == "exits-after-5" and self.commands > 5:
                sys.exit(0)
            if message["command"] == "next":
                self.next_tuple()
            elif message["command"] in ("ack", "fail"):
                self.settle(message["command"], message["id"])
            self.sync(message["command"])


if __name__ == "__main__":
    if sys.argv[1] not in MUTANTS and sys.argv[1] != "none":
        sys.exit(f"no such mutant: {sys.argv[1]}")
    Spout(sys.argv[1]).run()
