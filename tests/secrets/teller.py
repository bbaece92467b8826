"""A bolt that tells everything it was told, in every way there is, and breaks rules so that reports quote it."""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator


def read() -> Any:
    lines: list[str] = []
    for line in sys.stdin:
        if line == "end\n":
            return json.loads("".join(lines))
        lines.append(line)
    sys.exit(0)


def say(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\nend\n")
    sys.stdout.flush()


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif not isinstance(value, bool) and value is not None:
        yield str(value)


def main() -> None:
    shake = read()
    Path(shake["pidDir"], str(os.getpid())).touch()
    say({"pid": os.getpid()})
    own = {key: value for key, value in shake["conf"].items() if key in json.loads(os.environ.get("TOLD", "[]"))}
    env = {key: value for key, value in os.environ.items() if key in json.loads(os.environ.get("TOLD_ENV", "[]"))}
    known = [*texts(own), *env.values(), *sys.argv[1:]]
    for text in known:
        sys.stderr.write(f"known: {text}\n")
    sys.stderr.flush()
    say({"command": "log", "msg": "knows " + " ".join(known)})
    say({"command": "error", "msg": "could not " + json.dumps(own)})
    say({"command": "log", "msg": "in base64 " + " ".join(base64.b64encode(text.encode()).decode() for text in known)})
    say({"command": "log", "msg": "in a URL ?" + "&".join(quote(text, safe="") for text in known)})
    while True:
        message = read()
        if isinstance(message, list):
            continue
        if message["stream"] == "__heartbeat":
            say({"command": "sync"})
            continue
        say({"command": "emit", "anchors": [message["id"]], "tuple": [known, own], "need_task_ids": False})
        say({"command": "emit", "tuple": [known[0], 1], "stream": "undeclared"})
        say({"command": "ack", "id": message["id"]})
        say({"command": "ack", "id": "no such id"})
        sys.stdout.write("stray: " + known[2] + " " + known[-1] + "\n")
        sys.stdout.write(json.dumps({"command": "emit", "anchors": 5, "tuple": known[:3]}) + "\nend\n")
        sys.stdout.flush()
        if "--dies" in sys.argv:
            raise RuntimeError("knew " + " ".join(known))


main()
