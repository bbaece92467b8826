"""A bolt that does what conf `misbehaves` says: silent (no pid), deaf (no heartbeats), ack-twice, dies (no pid)."""

import sys

from multilang_cli.component.bolt import Bolt, Tuple
from multilang_cli.component.wire import Json


class Misbehaves(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:  # type: ignore[type-arg]
        del context
        self.how = conf["misbehaves"]

    def process(self, tup: Tuple) -> None:
        if self.how == "ack-twice":
            # In one write: what is wrong a second time is read together with the first.
            for more in (True, True, False):
                self._write({"command": "ack", "id": tup.id}, more=more)
        else:
            self.ack(tup)

    def _next_message(self) -> Json:
        message = self._read()
        return self._next_message() if self.how == "deaf" else message

    def _handshake(self) -> None:
        if "silent" in sys.argv:
            while self._read():
                pass
        if "dies" in sys.argv:
            sys.exit(3)
        super()._handshake()


Misbehaves().run()
