"""A bolt that asks for the task ids of each emit, and of tuples "way" speaks in WAYS, its arguments; without any: acks.

A way's steps: messages that are written in one piece; bytes; a number, so many lists of task ids are waited for; PAUSE;
or a function of the speaker. `$ID` stands for the id of the tuple. Each way is that of TIMES tuples in a row.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import sys
import termios
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Step = list[dict[str, Any]] | bytes | int | float | Callable[["Speaker"], object]

END = b"\nend\n"
PAUSE = 0.02
"""Seconds within which the other side has read what was written."""
F_SETPIPE_SZ = 1031
SMALL = 4096
"""Bytes that the smallest pipe holds."""
TIMES = 3
"""Tuples in a row that a way is that of."""


def framed(*messages: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + END for each in messages)


class Speaker:
    """`later`: what came while task ids were waited for. `held`: ids of tuples that are kept."""

    def __init__(self) -> None:
        self.lines = iter(sys.stdin.buffer.readline, b"")
        self.later: list[Any] = []
        self.held: list[str] = []
        self.id = ""

    def read(self) -> Any:
        text = b""
        for line in self.lines:
            if line == b"end\n":
                return json.loads(text)
            text += line
        sys.exit(0)

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(1, data) :]

    def next(self) -> Any:
        """Task ids or a tuple; heartbeats are answered."""
        while isinstance(message := self.read(), dict) and message["stream"] == "__heartbeat":
            self.write(framed({"command": "sync"}))
        return message

    def ids(self) -> None:
        while not isinstance(message := self.next(), list):
            self.later.append(message)

    def do(self, *steps: Step) -> None:
        for step in steps:
            if isinstance(step, list | bytes):
                data = step if isinstance(step, bytes) else framed(*step)
                self.write(data.replace(b"$ID", self.id.encode()))
            elif isinstance(step, float):
                time.sleep(step)
            elif isinstance(step, int):
                for _ in range(step):
                    self.ids()
            else:
                step(self)

    def run(self, usual: list[Step], ways: Sequence[list[Step]]) -> None:
        hello = self.read()
        with open(os.path.join(hello["pidDir"], str(os.getpid())), "w"):  # noqa: PTH118, PTH123
            pass
        self.conf = hello["conf"]
        self.write(framed({"pid": os.getpid()}))
        left = [way for way in ways for _ in range(TIMES)]
        while True:
            message = self.later.pop(0) if self.later else self.next()
            if isinstance(message, dict):
                self.id = message["id"]
                if message["stream"] == "__tick":
                    self.do([ACK])
                else:
                    self.do(*(left.pop(0) if left and message["tuple"][0] == "way" else usual))


def emit(*values: Any, **more: Any) -> dict[str, Any]:
    """An emit; `unasked` if `need_task_ids` is False."""
    return {"command": "emit", "anchors": ["$ID"], "tuple": list(values) or ["word"], **more}


EMIT, UNASKED = emit(), emit(need_task_ids=False)
FREE = emit(anchors=[])
ACK, FAIL, SYNC = ({"command": each, "id": "$ID"} for each in ("ack", "fail", "sync"))
STRANGE = {"command": "ack", "id": "4711"}
LOG, ERROR = {"command": "log", "msg": "hello", "level": 2}, {"command": "error", "msg": "oops"}
METRICS = {"command": "metrics", "name": "count", "params": 1}
DIRECT = emit(stream="direct", task=3)
USUAL: list[Step] = [[EMIT], 1, [ACK]]


def raw(*texts: bytes) -> list[Step]:
    """Asks with values of these bytes, one after the other."""
    steps: list[Step] = []
    for text in texts:
        steps += [b'{"command":"emit","anchors":["$ID"],"tuple":[%b]}\nend\n' % text, 1]
    return [*steps, [ACK]]


def odd(*values: Any) -> list[Step]:
    return raw(*(json.dumps(each).encode() for each in values))


def three(*steps: Step) -> list[Step]:
    """Do this with the third of three tuples, and the others with it: `$0` and `$1` are their ids."""

    def do(speaker: Speaker) -> None:
        speaker.held.append(speaker.id)
        if len(speaker.held) == TIMES:
            for step in steps:
                known = json.dumps(step)
                for at, id_ in enumerate(speaker.held[:2]):
                    known = known.replace(f"${at}", id_)
                speaker.do(json.loads(known))
            speaker.held.clear()

    return [do]


def secret(speaker: Speaker) -> None:
    speaker.do([emit(speaker.conf["my.password"])], 1, [ACK])


def in_a_heartbeat(speaker: Speaker) -> None:
    """Ask while a heartbeat waits for its answer: once, it takes a second."""
    if not speaker.held:
        speaker.held.append(speaker.id)
        while isinstance(message := speaker.read(), list) or message["stream"] != "__heartbeat":
            speaker.later.append(message)
        speaker.do([EMIT], 1, [SYNC])
    speaker.do([ACK])


def until_full(speaker: Speaker) -> None:
    """Ask when the next tuple has filled a small pipe."""
    fcntl.fcntl(0, F_SETPIPE_SZ, SMALL)
    speaker.do([ACK])
    while SMALL - _unread() >= len(framed([4])):
        time.sleep(0)
    speaker.do([FREE], PAUSE, 1)


def _unread() -> int:
    (size,) = struct.unpack("i", fcntl.ioctl(0, termios.FIONREAD, b"\0" * 4))
    return int(size)


def until_told(speaker: Speaker) -> None:
    """Ask without rest, until the next tuple comes: what it depends on is not done by those that ask."""
    speaker.do([ACK])
    while not speaker.later:
        speaker.do([FREE], 1)


def close(descriptor: int) -> Callable[[Speaker], object]:
    return lambda _: os.close(descriptor)


EXIT: Step = lambda _: os._exit(1)  # noqa: E731 (a step)
STDERR: Step = lambda _: os.write(2, b"something\n")  # noqa: E731
MINUTE = 60.0

ASKING: dict[str, list[Step]] = {
    "asks": USUAL,
    "asks thrice": [[EMIT], 1, [EMIT], 1, [EMIT], 1, [ACK]],
    "asks of nothing": [[FREE], 1, [ACK]],
    "says so": [[emit(need_task_ids=True, stream="default", id=None, task=None)], 1, [ACK]],
    "ack, free": [[ACK, FREE], 1],
    "ack, then free": [[ACK], PAUSE, [FREE], 1],
    "log": [[LOG, EMIT], 1, [LOG, ACK]],
    "log, then asks": [[LOG], PAUSE, [EMIT], 1, [ACK]],
    "error": [[ERROR, EMIT], 1, [ERROR], [ACK]],
    "metrics": [[METRICS, EMIT], 1, [METRICS, ACK]],
    "sync": [[SYNC, EMIT], 1, [ACK, SYNC]],
    "pieces": [framed(EMIT)[:20], PAUSE, framed(EMIT)[20:], 1, framed(ACK)[:-2], PAUSE, framed(ACK)[-2:]],
    "and a piece": [framed(EMIT) + framed(ACK)[:7], 1, framed(ACK)[7:]],
    "ack and a piece": [framed(EMIT), 1, framed(ACK, FREE)[:-9], PAUSE, framed(FREE)[-9:], 1],
    "blank": [b"\n\n" + framed(EMIT), 1, b'{"command":\n"ack", "id":"$ID"}\nend\n'],
    "other stream": [[emit("a", 7, stream="pair")], 1, [ACK]],
    "nobody": [[emit(stream="nobody")], 1, [ACK]],
    "acks of two": three([{**ACK, "id": "$0"}, {**ACK, "id": "$1"}, emit(anchors=["$ID", "$ID"])], 1, [ACK]),
    "of three": three([emit(anchors=["$0", "$1", "$ID"])], 1, [{**ACK, "id": "$1"}, ACK], [{**ACK, "id": "$0"}]),
    "with id": [[emit(id=7)], 1, [ACK]],
    "secret": [secret],
    "stderr": [STDERR, [EMIT], 1, STDERR, [ACK], STDERR],
    "many": [*USUAL[:2] * 100, [ACK]],
    "text": odd("é", "\u2028", "𝄞", 'a/b\\c"', "\x7f\x80", ""),
    "kinds": odd(None, True, 1.5, 1e300, -0.0, 2**40, 2**62, -(2**63)),
    "nested": odd([], {}, {"a": {"b": [1, 2]}}),
    "bytes": raw(b"1.0000000000000000000001", '"é\u2028"'.encode(), b'"\\u00e9"', b'"\\ud800"'),
    "large": odd("x" * 70_000, "y" * 200_000),
    "in a heartbeat": [in_a_heartbeat],
    "crlf": [framed(EMIT).replace(b"\nend", b"\r\nend"), 1, [ACK]],
}
"""What a bolt says that waits for all task ids."""
FREELY: dict[str, list[Step]] = {
    "unasked": [[UNASKED, ACK]],
    "unasked, then ack": [[UNASKED], PAUSE, [ACK]],
    "unasked, asks": [[UNASKED, EMIT], 1, [ACK]],
    "unasked, then asks": [[UNASKED], PAUSE, [EMIT], 1, [ACK]],
    "asks, ack": [[EMIT, ACK], 1],
    "asks two": [[EMIT, EMIT], 2, [ACK]],
    "asks, then asks": [[EMIT], PAUSE, [EMIT], 2, [ACK]],
    "asks, log": [[EMIT, LOG], 1, [ACK]],
}
"""What shows, or may show, that it does not wait for them."""
DIRECTLY: dict[str, list[Step]] = {
    "direct": [[{**DIRECT, "need_task_ids": False}], PAUSE, [EMIT], 1, [ACK]],
    "direct asks": [[DIRECT], PAUSE, [ACK]],
}
"""What Storm survives before 2.6."""
FATAL: dict[str, list[Step]] = {
    "ack twice": [[EMIT], 1, [ACK], [FREE], 1, [ACK]],
    "ack, ack": [[ACK, ACK]],
    "ack, ack, free": [[ACK, ACK, FREE], 1],
    "unknown": [[STRANGE]],
    "ack, asks": [[ACK, EMIT], 1],
    "ack, then asks": [[ACK], [EMIT], 1],
    "anchors unknown": [[emit(anchors=["4711"])], 1],
    "undeclared": [[emit(stream="undeclared")], 1],
    "arity": [[emit("x", "y")], 1, [ACK]],
    "asks, arity": [[EMIT, emit("x", "y")], 2, [ACK]],
    "no values": [[{**EMIT, "tuple": []}], 1],
    "asks, no values": [[EMIT, {**EMIT, "tuple": []}], 2],
    "no task": [[emit(stream="direct")], 1],
    "ack, no task": [[ACK, emit(stream="direct", anchors=[])], 1],
    "fail twice": [[EMIT], 1, [FAIL], PAUSE, [FAIL]],
    "no json": [framed(EMIT) + b"{oops}\nend\n", 1],
    "no command": [[{"tuple": ["word"]}], 1],
    "nan": raw(b"NaN"),
    "too big": odd(2**70),
    "too long": odd("z" * 60_000),
    "deep": raw(b"[" * 3000 + b"]" * 3000),
    "exit": [[EMIT], EXIT],
    "exit, answered": [[EMIT], 1, EXIT],
    "exit in a frame": [framed(FREE)[:-3], EXIT],
    "exit, ack": [[EMIT], 1, [ACK], EXIT],
    "no stdin": [close(0), [EMIT], MINUTE],
    "no stdin, exit": [close(0), [EMIT], PAUSE, EXIT],
    "no stdout": [[EMIT], 1, close(1), MINUTE],
}
OTHER: dict[str, list[Step]] = {"until full": [until_full], "until told": [until_told], "fails": [[EMIT], 1, [FAIL]]}
WAYS = {**ASKING, **FREELY, **DIRECTLY, **FATAL, **OTHER}

if __name__ == "__main__":
    Speaker().run(USUAL if sys.argv[1:] else [[ACK]], [WAYS[each] for each in sys.argv[1:]])
