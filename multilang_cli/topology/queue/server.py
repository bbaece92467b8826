"""The queue: opened messages are pending until they are confirmed; a client that is gone gives back what it opened.

A client speaks JSON, a line a request, and gets a line back:

    {"do": "open"}            {"id": 7, "message": "the cow"}, or {} if nothing waits
    {"do": "confirm", "id": 7}   {}: it is done, and gone
    {"do": "abort", "id": 7}     {}: it waits again, before all others
    {"do": "put", "message": "the cow"}   {"id": 8}
    {"do": "count"}           {"waiting": 3, "pending": 1, "confirmed": 4}

What a client did not open it can neither confirm nor abort: {"error": "..."}.
"""

from __future__ import annotations

import json
import os
import socketserver
import tempfile
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from multilang_cli.driver.scratch import scratch

if TYPE_CHECKING:
    from collections.abc import Iterable

ADDRESS = "MLCHECK_QUEUE"
"""The environment variable that has the path of the queue's socket."""
LONGEST_FOLDER = 60
"""Bytes of a folder's path: with the rest, a socket's path may have 103 on macOS, and 107 on Linux."""
MOST_REQUEST = 1 << 20
"""Bytes of a request."""


class Queue:
    """The messages, and who has opened them. Pure. `confirmed`: how many are done."""

    def __init__(self, messages: Iterable[Any] = ()) -> None:
        self.waiting = deque(enumerate(messages, start=1))
        self.pending: dict[int, tuple[object, Any]] = {}
        self.confirmed = 0
        self._last = len(self.waiting)

    def put(self, message: Any) -> int:
        """Add a message; its id."""
        self._last += 1
        self.waiting.append((self._last, message))
        return self._last

    def open(self, client: object) -> tuple[int, Any] | None:
        """The next message, which is pending from now on; None if none waits."""
        if not self.waiting:
            return None
        number, message = self.waiting.popleft()
        self.pending[number] = (client, message)
        return number, message

    def confirm(self, client: object, number: int) -> bool:
        """It is done; False if the client has not opened it."""
        return self._close(client, number, done=True)

    def abort(self, client: object, number: int) -> bool:
        """It waits again, first of all; False if the client has not opened it."""
        return self._close(client, number, done=False)

    def leave(self, client: object) -> None:
        """The client is gone: all that it had opened waits again, in the old order, first of all."""
        for number in sorted((n for n, (owner, _) in self.pending.items() if owner is client), reverse=True):
            self._close(client, number, done=False)

    def _close(self, client: object, number: int, *, done: bool) -> bool:
        owner, message = self.pending.get(number, (None, None))
        if owner is not client:
            return False
        del self.pending[number]
        if done:
            self.confirmed += 1
        else:
            self.waiting.appendleft((number, message))
        return True

    def answer(self, client: object, request: Any) -> dict[str, Any]:
        """Answer a client."""
        match request:
            case {"do": "open"}:
                opened = self.open(client)
                return {} if opened is None else {"id": opened[0], "message": opened[1]}
            case {"do": "confirm" | "abort" as what, "id": int(number)} if number is not True:
                close = self.confirm if what == "confirm" else self.abort
                return {} if close(client, number) else {"error": f"message {number} is not yours"}
            case {"do": "put", "message": message}:
                return {"id": self.put(message)}
            case {"do": "count"}:
                return {"waiting": len(self.waiting), "pending": len(self.pending), "confirmed": self.confirmed}
        return {"error": "a request is one of open, confirm, abort, put, count"}


class QueueServer:
    """A queue on a socket in a directory of its own, for as long as it is entered. `address`: the socket's path."""

    def __init__(self, messages: Iterable[Any] = ()) -> None:
        self.queue = Queue(messages)
        self.address = ""
        self._lock = threading.Lock()

    def answer(self, client: object, request: Any) -> dict[str, Any]:
        """One request at a time."""
        with self._lock:
            return self.queue.answer(client, request)

    def leave(self, client: object) -> None:
        """A connection has ended."""
        with self._lock:
            self.queue.leave(client)

    def __enter__(self) -> Self:
        self._folder = scratch("mlcheck-queue-", _folder())
        self.address = str(self._folder.__enter__() / "queue")
        self._server = _Server(self.address, _client_of(self))
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._folder.__exit__(None, None, None)


def _folder() -> Path | None:
    """The folder of the socket's own: None for that of temporary files, unless its path is too long for a socket."""
    return Path("/tmp") if len(os.fsencode(tempfile.gettempdir())) > LONGEST_FOLDER else None  # noqa: S108


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128


def _client_of(server: QueueServer) -> type[socketserver.StreamRequestHandler]:
    class Client(socketserver.StreamRequestHandler):
        """One connection."""

        def handle(self) -> None:
            """Answer requests, a line of JSON each, until the client goes or the server ends."""
            try:
                while (line := self.rfile.readline(MOST_REQUEST)).endswith(b"\n"):
                    try:
                        request = json.loads(line)
                    except (ValueError, RecursionError):
                        request = None
                    self.wfile.write(json.dumps(server.answer(self, request)).encode() + b"\n")
            except OSError:
                pass
            finally:
                server.leave(self)

    return Client
