#!/usr/bin/env python3
"""A spout that emits sentences, and again those that failed: the whole multilang protocol, with no library.

Storm starts this program and talks to it over stdin and stdout. A message is JSON, a newline, and a line ``end``.
"""

import json
import os
import sys
import time
from pathlib import Path

SENTENCES = [
    "the cow jumped over the moon",
    "an apple a day keeps the doctor away",
    "four score and seven years ago",
    "snow white and the seven dwarfs",
    "i am at two with nature",
]

# The protocol is UTF-8 bytes, whatever LANG says: so take the byte streams below Python's text streams.
stdin = sys.stdin.buffer
stdout = sys.stdout.buffer

# Stdout belongs to the protocol: one stray print() would break it. From here on, print() writes to stderr.
sys.stdout = sys.stderr

# What is still to be emitted, and what was emitted and is not yet acked: pairs of id and sentence.
waiting = [(str(number), sentence) for number, sentence in enumerate(SENTENCES, start=1)]
pending = {}


def read_message() -> dict | list:
    """Return Storm's next message. When Storm closes the pipe, the worker is gone: exit."""
    lines = []
    while True:
        line = stdin.readline()
        if not line.endswith(b"\n"):
            sys.exit(0)
        if line.rstrip(b"\r\n") == b"end":
            return json.loads(b"".join(lines))
        lines.append(line)


def send(message: dict) -> None:
    """Send one message. Without flush() it would wait in a buffer, and Storm would wait for it."""
    stdout.write(json.dumps(message).encode("utf-8") + b"\nend\n")
    stdout.flush()


def handshake() -> None:
    """Answer Storm's first message with our process id, and leave an empty file of that name in its directory."""
    hello = read_message()  # it also has "conf", the configuration, and "context", our place in the topology
    pid = os.getpid()
    Path(hello["pidDir"], str(pid)).touch()
    send({"pid": pid})


def next_tuple() -> None:
    """Emit one sentence. Because it has an id, Storm will tell us its fate: ack or fail."""
    if not waiting:
        time.sleep(0.01)  # nothing to emit: do not let Storm ask again at full speed
        return
    message_id, sentence = waiting.pop(0)
    pending[message_id] = sentence
    # need_task_ids false: we do not want to be told which tasks get the sentence.
    send({"command": "emit", "id": message_id, "tuple": [sentence], "need_task_ids": False})


def ack(message_id: str) -> None:
    """Forget the sentence: every tuple made from it was processed."""
    pending.pop(message_id, None)


def fail(message_id: str) -> None:
    """Put the sentence back: it was lost, or it took too long."""
    if message_id in pending:
        waiting.append((message_id, pending.pop(message_id)))


def main() -> None:
    """Read and answer, until Storm closes the pipe."""
    handshake()
    while True:
        message = read_message()
        if isinstance(message, list):
            continue  # task ids, the answer to an emit: we have no use for them
        if message["command"] == "next":
            next_tuple()
        elif message["command"] == "ack":
            ack(message["id"])
        elif message["command"] == "fail":
            fail(message["id"])
        # Each command is answered by exactly one sync, also those that need no work: activate and deactivate.
        send({"command": "sync"})


if __name__ == "__main__":
    main()
