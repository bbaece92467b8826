"""The shell spout of the queue: opens a message and emits it, confirms what is acked, gives back what fails.

The socket's path comes in the environment. A message that is a list is a tuple; any other is the only value of one.
With `mlcheck.queue.ids` false in conf, tuples have no message id: then a message is confirmed as it is emitted.
"""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from multilang_cli.component.spout import Spout

ADDRESS = "MLCHECK_QUEUE"


class QueueSpout(Spout):
    """Emits each message under its id in the queue, which it keeps when it is opened again."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Connect."""
        del context
        self._ids = conf.get("mlcheck.queue.ids", True)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(os.environ[ADDRESS])
        self._stream = connection.makefile("rwb")

    def next_tuple(self) -> None:
        """Emit the next message, if one waits."""
        opened = self._ask(do="open")
        if not opened:
            self.idle()
            return
        number, message = opened["id"], opened["message"]
        values = message if isinstance(message, list) else [message]
        if self._ids:
            self.emit(values, id=number)
        else:
            self._ask(do="confirm", id=number)
            self.emit(values)

    def ack(self, id: Any) -> None:  # noqa: A002 (Storm's own word)
        """It is done."""
        self._ask(do="confirm", id=id)

    def fail(self, id: Any) -> None:  # noqa: A002
        """It waits again."""
        self._ask(do="abort", id=id)

    def _ask(self, **request: Any) -> dict[str, Any]:
        self._stream.write(json.dumps(request).encode() + b"\n")
        self._stream.flush()
        answer = json.loads(self._stream.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer  # type: ignore[no-any-return]


if __name__ == "__main__":
    QueueSpout().run()
