"""A bolt that writes down what Storm gave it: ``witness.py FOLDER WORD...``; a file of FOLDER for each process.

The file has its words, environment and folder, when it started and was ready, and the bytes of its stdin up to the
first tuple. It logs and complains on stderr at each tuple, naming its component.

It acks with the second heartbeat after a tuple: Storm reads stderr only after it has written something, so what was
complained of before the first is in the worker's log when the second is written.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

started = time.monotonic()


def frame() -> bytes:
    """The next message, with its line ``end``; b"" at the end of stdin."""
    lines = [sys.stdin.buffer.readline()]
    while lines[-1] not in {b"end\n", b""}:
        lines.append(sys.stdin.buffer.readline())
    return b"".join(lines)


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\nend\n")
    sys.stdout.flush()


def main() -> None:
    handshake = frame()
    greeting = json.loads(handshake.removesuffix(b"end\n"))
    pid = os.getpid()
    (Path(greeting["pidDir"]) / str(pid)).touch()
    ready = time.monotonic()
    say({"pid": pid})
    context = greeting["context"]
    acked_at: list[tuple[int, str]] = []
    heartbeats = 0
    while read := frame():
        message = json.loads(read.removesuffix(b"end\n"))
        if message["stream"] == "__heartbeat":
            heartbeats += 1
            while acked_at and acked_at[0][0] <= heartbeats:
                say({"command": "ack", "id": acked_at.pop(0)[1]})
            say({"command": "sync"})
            continue
        witness = {
            "pid": pid,
            "task": context["taskid"],
            "words": sys.argv[2:],
            "folder": str(Path.cwd()),
            "environment": dict(os.environ),
            "started": started,
            "ready": ready,
            "frames": [handshake.decode(), read.decode()],
        }
        Path(sys.argv[1], f"{context['componentid']}-{context['taskid']}.json").write_text(json.dumps(witness))
        sys.stderr.write(f"{context['componentid']} complains\n")
        sys.stderr.flush()
        say({"command": "log", "msg": f"{context['componentid']} logs"})
        acked_at.append((heartbeats + 2, message["id"]))


main()
