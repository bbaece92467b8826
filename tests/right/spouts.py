"""Spouts that are right, each in a way of its own: ``spouts.py burst``. No finding is fair on any of them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Command = dict[str, Any]


def read() -> Any:
    """Return the next message; exit at the end of stdin."""
    lines = []
    while (line := sys.stdin.buffer.readline()) != b"end\n":
        if not line:
            os._exit(0)
        lines.append(line)
    return json.loads(b"".join(lines))


def send(message: Any) -> None:
    """Write a message whole."""
    data = json.dumps(message).encode() + b"\nend\n"
    while data:
        data = data[os.write(1, data) :]


def emit(*values: Any, **more: Any) -> None:
    """Emit without wanting task ids."""
    send({"command": "emit", "tuple": list(values), "need_task_ids": False, **more})


def shake(message: Any) -> None:
    """Make the pid file and say the pid."""
    Path(message["pidDir"], str(os.getpid())).touch()
    send({"pid": os.getpid()})


def loop(answer: Callable[[Command], None]) -> None:
    """Answer each command, then sync."""
    shake(read())
    while True:
        message = read()
        if isinstance(message, dict):
            answer(message)
            send({"command": "sync"})


def _numbers() -> Iterator[int]:
    return count(1)


def burst() -> None:
    """Emits 200 tuples for each next, and does not look at their task ids."""
    ids = _numbers()

    def answer(command: Command) -> None:
        for _ in range(200 if command["command"] == "next" else 0):
            send({"command": "emit", "id": next(ids), "tuple": ["word"]})

    loop(answer)


def no_ids() -> None:
    """Emits what may get lost."""

    def answer(command: Command) -> None:
        if command["command"] == "next":
            emit("word")

    loop(answer)


def silent() -> None:
    """Has nothing to say, ever."""
    loop(lambda _: time.sleep(0.002))


def waits_long() -> None:
    """Waits a tenth of a second for its source in each next."""
    loop(lambda command: time.sleep(0.1 if command["command"] == "next" else 0))


def answers_in_ack() -> None:
    """Emits the next tuple in the answer to an ack, the same again in that to a fail, the first on activate."""
    ids = _numbers()

    def answer(command: Command) -> None:
        if command["command"] in ("activate", "ack"):
            emit("word", id=f"id-{next(ids)}")
        elif command["command"] == "fail":
            emit("word", id=command["id"])
        else:
            time.sleep(0.002)

    loop(answer)


def logs() -> None:
    """Logs and reports errors in each answer, and talks on stderr a little."""
    ids = _numbers()

    def answer(command: Command) -> None:
        send({"command": "log", "msg": f"asked for {command['command']}", "level": 1})
        send({"command": "error", "msg": "no error at all"})
        os.write(2, b"debug\n" * 20)
        if command["command"] == "next":
            emit("word", id=next(ids), stream="default", task=None)

    loop(answer)


def replays() -> None:
    """Emits again what failed, under the id that it had, as often as it takes; knows it by its ack alone."""
    ids, pending, failed = _numbers(), set[int](), list[int]()

    def answer(command: Command) -> None:
        if command["command"] == "next":
            number = failed.pop() if failed else next(ids)
            pending.add(number)
            emit("word", id=number)
        elif command["command"] == "ack":
            pending.remove(command["id"])
        elif command["command"] == "fail":
            failed.append(command["id"])

    loop(answer)


def reads_ids() -> None:
    """Reads the task ids of each emit before it goes on."""
    ids = _numbers()

    def answer(command: Command) -> None:
        if command["command"] == "next":
            for _ in range(3):
                send({"command": "emit", "id": str(next(ids)), "tuple": ["word"]})
                while not isinstance(read(), list):
                    pass

    loop(answer)


def answers_later() -> None:
    """An event loop: a timer of it brings the answer to next, and it reads on meanwhile."""

    async def run() -> None:
        source = asyncio.StreamReader(limit=1 << 24)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(source), sys.stdin)
        with suppress(asyncio.IncompleteReadError):
            while True:
                message = json.loads((await source.readuntil(b"\nend\n"))[:-5])
                if "pidDir" in message:
                    shake(message)
                    continue
                await asyncio.sleep(0.05 if message["command"] == "next" else 0)
                send({"command": "sync"})

    asyncio.run(run())


def late() -> None:
    """Emits nothing before the fiftieth call."""
    ids = _numbers()
    calls = _numbers()

    def answer(command: Command) -> None:
        if command["command"] == "next" and next(calls) >= 50:
            emit("word", id=f"id-{next(ids)}")

    loop(answer)


def finite() -> None:
    """Emits five tuples, and nothing more."""
    left = [f"id-{number}" for number in range(5)]

    def answer(command: Command) -> None:
        if command["command"] == "next" and left:
            emit("word", id=left.pop())
        elif command["command"] == "next":
            time.sleep(0.001)

    loop(answer)


SPOUTS: dict[str, Callable[[], None]] = {
    "burst": burst,
    "no-ids": no_ids,
    "silent": silent,
    "waits-long": waits_long,
    "answers-in-ack": answers_in_ack,
    "answers-later": answers_later,
    "logs": logs,
    "reads-ids": reads_ids,
    "replays": replays,
    "finite": finite,
    "late": late,
}

if __name__ == "__main__":
    SPOUTS[sys.argv[1]]()
