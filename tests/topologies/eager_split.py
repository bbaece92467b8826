"""Splits sentences: it asks for the task ids of each word by saying nothing of them, and waits for none."""

import json
import os
import sys
from pathlib import Path
from typing import Any


def read() -> Any:
    text = "".join(iter(sys.stdin.readline, "end\n"))
    if not text:
        sys.exit()
    return json.loads(text)


def say(*messages: dict) -> None:  # type: ignore[type-arg]
    sys.stdout.write("".join(f"{json.dumps(message)}\nend\n" for message in messages))
    sys.stdout.flush()


greeting = read()
Path(greeting["pidDir"], str(os.getpid())).touch()
say({"pid": os.getpid()})
while True:
    said = read()
    if isinstance(said, list):
        continue
    if said["stream"] == "__heartbeat":
        say({"command": "sync"})
        continue
    word, *_ = said["tuple"][0].split()
    # One emit and its ack: two emits never stand beside each other.
    say({"command": "emit", "anchors": [said["id"]], "tuple": [word]}, {"command": "ack", "id": said["id"]})
