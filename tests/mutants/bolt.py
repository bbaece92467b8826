"""The smallest bolt, with a bug of your choice: ``bolt.py ack-twice``. ``bolt.py none`` has none.

It splits the first value into words. Each bug is one entry of a table: what is wrong with an emit, with its text, with
the handshake, or with what the bolt does. `MUTANTS` has them all, with the rule that each breaks.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

LINGER = 120
"""Seconds that a mutant lives on at most where it should have ended: nothing stays behind if nobody kills it."""
TIMER = 0.8
"""Seconds that a timer runs which nobody stops: longer than a case stays at one place, shorter than Storm does."""


class Mutant(NamedTuple):
    """The rule that is broken, in one line how, and the bug itself where it is data."""

    rule: str
    about: str
    bug: Any = None


def _quoted(text: str, word: str) -> bytes:
    return text.replace('"tuple":["', '"tuple":["' + word, 1).encode()


def _value(text: str, value: str) -> bytes:
    head, _, tail = text.partition('"tuple":["')
    return f'{head}"tuple":[{value}]{tail.partition("]")[2]}'.encode()


# Changed fields of an emit; None takes a field away.
FIELDS: dict[str, Mutant] = {
    "anchor-unknown": Mutant("anchor-unknown", "anchors to an id that Storm never sent", {"anchors": ["nope"]}),
    "anchors-number": Mutant("anchors-type", "anchors are numbers", {"anchors": [12345]}),
    "big-int": Mutant("integer-too-big", "a value of 2^70", {"tuple": [2**70]}),
    "decimal-value": Mutant("decimal-value", "a value with 17 digits", {"tuple": [0.30000000000000004]}),
    "direct-task-range": Mutant("direct-task-range", "a direct emit to task 2^32+6", {"task": 2**32 + 6}),
    "ids-as-number": Mutant("need-task-ids-type", "need_task_ids is 0", {"need_task_ids": 0}),
    "misspelt-key": Mutant("key-misspelt", "anchors by the key anchor", {"anchors": None, "anchor": ["nope"]}),
    "misspelt-command": Mutant("command-unknown", "says emitt", {"command": "emitt"}),
    "command-missing": Mutant("command-missing", "an emit that does not say so", {"command": None}),
    "command-number": Mutant("command-type", "the command is 5", {"command": 5}),
    "nested-value": Mutant("nested-value", "a value that is an object", {"tuple": [{"word": ["a", 1]}]}),
    "stream-number": Mutant("stream-type", "the stream is 1", {"stream": 1}),
    "system-stream": Mutant("stream-system", "emits on a stream of Storm itself", {"stream": "__ack_ack"}),
    "task-as-float": Mutant("task-type", "the task is 4.0", {"task": 4.0}),
    "tuple-as-string": Mutant("tuple-type", "the tuple is a bare string", {"tuple": "word"}),
    "tuple-missing": Mutant("tuple-missing", "an emit without a tuple", {"tuple": None}),
    "undeclared-stream": Mutant("stream-undeclared", "emits on a stream that it did not declare", {"stream": "nope"}),
    "wrong-arity": Mutant("arity", "two values more than the stream has fields", {"tuple": ["a", "b", "c"]}),
}

# The bytes of an emit, made from its right text.
TEXTS: dict[str, Mutant] = {
    "bad-escape": Mutant("json-bad-escape", r"writes \x41", lambda text: _quoted(text, r"\x41")),
    "bom": Mutant("bom", "a byte order mark first", lambda text: b"\xef\xbb\xbf" + text.encode() + b"\nend\n"),
    "comment": Mutant("json-comment", "a comment in the JSON", lambda text: b"// a word\n" + text.encode()),
    "format": Mutant(
        "text-damaged", "prints its messages as a format", lambda t: re.sub("%([a-z])", r"%!\1(MISSING)", t).encode()
    ),
    "control-character": Mutant("json-control-character", "a raw tab in a string", lambda text: _quoted(text, "\t")),
    "duplicate-key": Mutant("json-duplicate-key", "the same key twice", lambda t: t[:-1].encode() + b',"tuple":["x"]}'),
    "empty-message": Mutant("empty-message", "an end after nothing", lambda text: b"end\n" + text.encode()),
    "end-with-space": Mutant("end-not-alone", "a space after end", lambda text: text.encode() + b"\nend \n"),
    "invalid-json": Mutant("json-invalid", "a comma too many", lambda text: text.encode().replace(b":", b":,", 1)),
    "huge-value": Mutant("number-too-large", "a value 1e400", lambda text: _value(text, "1e400")),
    "latin-1": Mutant(
        "utf8-invalid", "writes Latin-1", lambda t: _quoted(t, "é").decode().encode("latin-1", "replace")
    ),
    "leading-zero": Mutant("json-number", "a number 007", lambda text: _value(text, "007")),
    "list-message": Mutant("message-not-object", "a list of commands", lambda text: f"[{text}]".encode()),
    "lone-surrogate": Mutant("lone-surrogate", "half of a surrogate pair", lambda text: _quoted(text, r"\ud83d")),
    "msgpack": Mutant("other-serializer", "speaks msgpack", lambda _: b"\x81\xa7command\xa4emit"),
    "nan-value": Mutant("json-nonfinite", "a value NaN", lambda text: _value(text, "NaN")),
    "print-to-stdout": Mutant(
        "stdout-text", "prints what it does", lambda text: b"splitting a sentence\n" + text.encode()
    ),
    "python-repr": Mutant("python-repr", "sends str(dict)", lambda text: str(json.loads(text)).encode()),
    "single-quotes": Mutant("json-single-quotes", "quotes with '", lambda text: text.replace('"', "'").encode()),
    "text-after-object": Mutant("text-after-object", "a word after the object", lambda text: text.encode() + b" sent"),
    "too-deep": Mutant("json-too-deep", "lists 5000 deep", lambda text: _value(text, "[" * 5000 + "]" * 5000)),
    "trailing-comma": Mutant("json-trailing-comma", "a comma at the end", lambda text: text[:-1].encode() + b",}"),
    "truncated": Mutant("json-truncated", "the message is cut short", lambda text: text[:-2].encode()),
    "two-messages-one-end": Mutant("two-messages-one-end", "one end for two", lambda t: f"{t}\n{t}".encode()),
    "unquoted-keys": Mutant(
        "json-unquoted-keys", "a key without quotes", lambda t: t.replace('"tuple"', "tuple").encode()
    ),
    "utf-16": Mutant("not-utf8", "writes UTF-16", lambda text: text.encode("utf-16-le") + b"\nend\n"),
}

# A message sent after the ack; $ID is the id of the tuple in process.
EXTRAS: dict[str, Mutant] = {
    "ack-as-number": Mutant("settle-id-type", "then acks the id as a number", '{"command":"ack","id":$ID}'),
    "ack-then-fail": Mutant("fail-twice", "fails what it has just acked", '{"command":"fail","id":"$ID"}'),
    "ack-twice": Mutant("ack-twice", "acks each tuple twice", '{"command":"ack","id":"$ID"}'),
    "syncs-each": Mutant("sync-unasked", "syncs after each tuple", '{"command":"sync"}'),
    "ack-unknown": Mutant("ack-unknown", "acks an id that Storm never sent", '{"command":"ack","id":"nope"}'),
    "ack-without-id": Mutant("settle-id-missing", "an ack that does not say of what", '{"command":"ack"}'),
    "fail-unknown": Mutant("fail-unknown", "fails an id that Storm never sent", '{"command":"fail","id":"nope"}'),
    "level-as-word": Mutant("log-level", "logs at level info", '{"command":"log","msg":"split","level":"info"}'),
    "log-number": Mutant("msg-type", "logs a number", '{"command":"log","msg":5}'),
    "log-nothing": Mutant("msg-missing", "logs without a message", '{"command":"log"}'),
    "metric-unknown": Mutant(
        "metric-unregistered", "a metric nobody registered", '{"command":"metrics","name":"n","params":1}'
    ),
    "metric-text": Mutant("metric-params", "counts with text", '{"command":"metrics","name":"counted","params":"1"}'),
    "metric-without-name": Mutant("metric-name", "a metric without a name", '{"command":"metrics","params":1}'),
}

# What the bolt does: looked up where it is done.
DEEDS: dict[str, Mutant] = {
    "pid-as-string": Mutant("pid-type", "the pid is a string"),
    "pid-missing": Mutant("pid-missing", "the first answer has no pid"),
    "pid-wrong": Mutant("pid-wrong", "the pid of another process"),
    "log-before-pid": Mutant("pid-not-first", "logs before it says its pid"),
    "handshake-silent": Mutant("handshake-silent", "never says its pid"),
    "no-pid-file": Mutant("pid-file-missing", "makes no pid file"),
    "pid-file-filled": Mutant("pid-file-filled", "writes its pid into the pid file"),
    "print-at-import": Mutant("stdout-text", "prints a greeting before the handshake"),
    "ack-before-emit": Mutant("anchor-settled", "acks first, then emits anchored to what is settled"),
    "never-ack": Mutant("tuple-unsettled", "never settles a tuple"),
    "leak-first": Mutant("tuple-forgotten", "forgets to settle its first tuple"),
    "leak-tenth": Mutant("tuple-forgotten", "forgets to settle each tenth tuple"),
    "leak-equal": Mutant("tuple-forgotten", "forgets to settle the first of equal tuples"),
    "leak-value": Mutant("tuple-forgotten", "forgets to settle tuples that it filters out"),
    "fail-twice": Mutant("fail-twice", "fails each tuple twice"),
    "ack-heartbeat": Mutant("heartbeat-acked", "acks heartbeats"),
    "ignore-heartbeat": Mutant("heartbeat-unanswered", "does not answer heartbeats"),
    "heartbeat-to-user-code": Mutant("exited", "gives heartbeats to process(), which dies of them"),
    "no-flush": Mutant("handshake-silent", "leaves all it writes in a buffer until stdin ends"),
    "late-flush": Mutant("heartbeat-unanswered", "flushes the pid, and leaves the rest in a buffer until stdin ends"),
    "drops-while-waiting": Mutant("tuple-unsettled", "waits for task ids and drops the tuples that come first"),
    "exits-after-10": Mutant("exited", "exits after ten tuples"),
    "exits-on-unknown-key": Mutant("exited", "exits when conf has a setting that is an object it does not know"),
    "says-goodbye": Mutant("output-at-end", "prints a farewell at the end of its stdin"),
    "cut-at-exit": Mutant("message-cut", "exits in the middle of a message"),
    "closes-stdout": Mutant("stdout-closed", "closes stdout after the first tuple, and goes on reading"),
    "stops-reading": Mutant("stdin-not-read", "reads nothing after the first tuple"),
    "ignores-eof": Mutant("outlives-stdin", "goes on when stdin has ended"),
    "timer-left": Mutant("exited", "a timer that each tuple starts is never stopped, and ends the process"),
    "retries-writes": Mutant("outlives-worker", "tries each write again until it succeeds, also on a closed pipe"),
    "ignores-sigterm": Mutant("outlives-sigterm", "ignores SIGTERM"),
    "leaves-open": Mutant("holdings-grow", "opens a file for each tuple, and closes none"),
    "leaves-children": Mutant("holdings-grow", "starts a process for each tuple, and waits for none"),
    "floods-stderr": Mutant("stderr-flood", "1 MB of debug output on stderr for each tuple: harmless in a bolt"),
}

MUTANTS: dict[str, Mutant] = FIELDS | TEXTS | EXTRAS | DEEDS


class Bolt:
    """A right bolt, but for `bug`."""

    def __init__(self, bug: str) -> None:
        self.bug = bug
        self.unsent = b""
        self.tuples = 0
        self.seen: set[str] = set()
        self.forgets = False

    def read(self) -> Any:
        """Return the next message; exit at the end of stdin."""
        lines: list[bytes] = []
        while (line := sys.stdin.buffer.readline()) != b"end\n":
            if not line:
                self.leave()
            lines.append(line)
        message = json.loads(b"".join(lines))
        conf = message.get("conf", {}) if isinstance(message, dict) else {}
        if self.bug == "exits-on-unknown-key" and any(isinstance(v, dict) and "nested" in v for v in conf.values()):
            sys.exit("a setting that I do not know")
        return message

    def leave(self) -> None:
        """Exit, as the end of stdin asks."""
        if self.bug == "ignores-eof":
            time.sleep(LINGER)
        if self.bug == "says-goodbye":
            self.unsent += b"goodbye\n"
        self.flush()
        os._exit(0)

    def write(self, data: bytes) -> None:
        """Write a message, closed by ``end`` unless its bug closed it in its own way."""
        self.unsent += data if data.endswith((b"end\n", b"end \n")) else data + b"\nend\n"
        if self.bug != "no-flush" and not (self.bug == "late-flush" and self.tuples):
            self.flush()

    def flush(self) -> None:
        """Send what was written."""
        until = time.monotonic() + LINGER
        while self.unsent:
            try:
                self.unsent = self.unsent[os.write(1, self.unsent) :]
            except BrokenPipeError:
                if self.bug != "retries-writes" or time.monotonic() > until:
                    raise

    def send(self, message: Any) -> None:
        """Write a message as it should be."""
        self.write(json.dumps(message, separators=(",", ":")).encode())

    def handshake(self) -> None:
        """Make the pid file and say the pid."""
        if self.bug == "print-at-import":
            self.flush_text("loading the bolt\n")
        pid = os.getpid()
        file = Path(self.read()["pidDir"], str(pid))
        if self.bug != "no-pid-file":
            file.write_text(str(pid) if self.bug == "pid-file-filled" else "")
        if self.bug == "log-before-pid":
            self.send({"command": "log", "msg": "starting"})
        answers: dict[str, Any] = {
            "pid-as-string": {"pid": str(pid)},
            "pid-missing": {},
            "pid-wrong": {"pid": os.getppid()},
        }
        if self.bug != "handshake-silent":
            self.send(answers.get(self.bug, {"pid": pid}))

    def flush_text(self, text: str) -> None:
        """Put text on stdout, as print() does."""
        self.unsent += text.encode()
        self.flush()

    def emit(self, word: str, anchor: str) -> None:
        """Emit one word, as its bug has it."""
        message = {"command": "emit", "anchors": [anchor], "need_task_ids": False, "tuple": [word]}
        if self.bug == "drops-while-waiting":
            message["need_task_ids"] = True
        if self.bug in FIELDS:
            message |= FIELDS[self.bug].bug
            message = {key: value for key, value in message.items() if value is not None}
        text = json.dumps(message, separators=(",", ":"))
        change: Callable[[str], bytes] = TEXTS[self.bug].bug if self.bug in TEXTS else str.encode
        self.write(change(text))
        while self.bug == "drops-while-waiting" and not isinstance(self.read(), list):
            pass

    def settle(self, command: str, identity: str) -> None:
        """Ack or fail, as its bug has it."""
        if self.bug == "never-ack" or self.forgets:
            return
        self.send({"command": command, "id": identity})
        if self.bug in EXTRAS:
            self.write(EXTRAS[self.bug].bug.replace("$ID", identity).encode())
        if self.bug == "fail-twice":
            self.send({"command": command, "id": identity})

    def process(self, message: dict[str, Any]) -> None:
        """Split a sentence, then settle its tuple."""
        self.tuples += 1
        words = str(message["tuple"][0]).split()
        leaks = {
            "leak-first": self.tuples == 1,
            "leak-tenth": self.tuples % 10 == 0,
            "leak-equal": str(words) not in self.seen,
            "leak-value": len(words) > 2,
        }
        self.forgets = leaks.get(self.bug, False)
        self.seen.add(str(words))
        if self.bug == "floods-stderr":
            os.write(2, b"debug: about to split\n" * 50_000)
        if self.bug == "fail-twice":
            self.settle("fail", message["id"])
            return
        if self.bug == "ack-before-emit":
            self.settle("ack", message["id"])
        for word in words:
            self.emit(word, message["id"])
        if self.bug != "ack-before-emit":
            self.settle("ack", message["id"])
        self.misbehave()

    def misbehave(self) -> None:
        """Do what is wrong after a tuple."""
        if self.bug == "timer-left":
            signal.setitimer(signal.ITIMER_REAL, TIMER)
        if self.bug == "exits-after-10" and self.tuples == 10:
            sys.exit(0)
        if self.bug == "cut-at-exit":
            self.flush_text('{"command":"em')
            sys.exit(0)
        if self.bug == "closes-stdout" and self.tuples == 1:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if self.bug == "stops-reading":
            time.sleep(LINGER)
        if self.bug == "leaves-open":
            os.open(os.devnull, os.O_RDONLY)
        if self.bug == "leaves-children" and os.fork() == 0:
            os._exit(0)

    def heartbeat(self, message: dict[str, Any]) -> None:
        """Answer a heartbeat."""
        if self.bug == "heartbeat-to-user-code":
            self.process(message)
        elif self.bug == "ack-heartbeat":
            self.send({"command": "ack", "id": message["id"]})
        elif self.bug != "ignore-heartbeat":
            self.send({"command": "sync"})

    def run(self) -> None:
        """Read and answer until the end of stdin."""
        if self.bug == "ignores-sigterm":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.handshake()
        while True:
            message = self.read()
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
