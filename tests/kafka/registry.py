"""A schema registry for tests: what the client library asks of one, over HTTP on this machine, and no more of it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_FOUND = 404
UNKNOWN_SCHEMA = 40403


class Registry(ThreadingHTTPServer):
    """Schemas by their ids, from 1 on. `status`: with which all is refused, 0 for not."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.schemas: list[dict[str, Any]] = []
        self.status = 0
        self.url = f"http://127.0.0.1:{self.server_port}"


@contextmanager
def a_registry() -> Iterator[Registry]:
    """One that answers meanwhile."""
    with Registry() as registry:
        thread = Thread(target=registry.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield registry
        registry.shutdown()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        """``/schemas/ids/ID``."""
        place = self.path.partition("?")[0].split("/")
        number = int(place[3]) if place[1:3] == ["schemas", "ids"] else 0
        if 0 < number <= len(self.server.schemas):
            self._answer(self.server.schemas[number - 1])
        else:
            self._refuse(NOT_FOUND, UNKNOWN_SCHEMA)

    def do_POST(self) -> None:
        """``/subjects/NAME/versions``: the id of a schema, which is kept."""
        schema = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if schema not in self.server.schemas:
            self.server.schemas.append(schema)
        number = self.server.schemas.index(schema) + 1
        subject = self.path.split("/")[2]
        self._answer({**schema, "id": number, "subject": subject, "version": number})

    def _answer(self, body: dict[str, Any]) -> None:
        if self.server.status:
            self._refuse(self.server.status, self.server.status)
        else:
            self._send(200, body)

    def _refuse(self, status: int, code: int) -> None:
        self._send(status, {"error_code": code, "message": f"refused with {code}"})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        sent = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Say nothing."""
