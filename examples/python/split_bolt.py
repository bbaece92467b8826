#!/usr/bin/env python3
"""A bolt that splits sentences into words: the whole multilang protocol, with no library.

Storm starts this program and talks to it over stdin and stdout. A message is JSON, a newline, and a line ``end``.
"""

import json
import os
import sys
from pathlib import Path

# The protocol is UTF-8 bytes, whatever LANG says: so take the byte streams below Python's text streams.
stdin = sys.stdin.buffer
stdout = sys.stdout.buffer

# Stdout belongs to the protocol: one stray print() would break it. From here on, print() writes to stderr.
sys.stdout = sys.stderr


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


def process(message: dict) -> None:
    """Emit each word of the first value, anchored to the tuple it comes from; then ack that tuple, exactly once."""
    values = message["tuple"]
    sentence = values[0] if values else ""
    if not isinstance(sentence, str):
        sentence = json.dumps(sentence, separators=(",", ":"))
    for word in sentence.split():
        # The anchor ties the word to its sentence: if the word gets lost, Storm replays the sentence.
        # need_task_ids false: we do not want to be told which tasks get the word.
        send({"command": "emit", "anchors": [message["id"]], "tuple": [word], "need_task_ids": False})
    send({"command": "ack", "id": message["id"]})


def main() -> None:
    """Read and answer, until Storm closes the pipe."""
    handshake()
    while True:
        message = read_message()
        if isinstance(message, list):
            continue  # task ids, the answer to an emit: we have no use for them
        if message["stream"] == "__heartbeat" and message["task"] == -1:
            send({"command": "sync"})  # Storm asks whether we live. This is no tuple: it must not be acked
        else:
            process(message)


if __name__ == "__main__":
    main()
