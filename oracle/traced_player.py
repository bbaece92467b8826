"""The scripted player, watched: ``python -I -S traced_player.py PLAYER CASE TRACE``.

PLAYER is multilang_cli/component/player.py, CASE a file with one case. Into the file TRACE it writes a line of JSON for
its pid, for each message it reads after the handshake, and when its steps are over, so that the oracle knows what the
component received and when to stop waiting, without touching the pipes. Like the player it imports next to nothing.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLAYER, CASE, TRACE = sys.argv[1:4]
sys.path.insert(0, PLAYER.rpartition("/")[0])

import player  # noqa: E402 - found only now


class TracedPlayer(player.Player):
    """A player that reports what it reads and how far it is."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(case)
        self._trace = os.open(TRACE, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
        self._report({"pid": os.getpid()})
        # The default handshake has two steps.
        self._left = len(case.get("handshake", (1, 2))) + len(case["steps"])
        self._finish_step(0)

    def _report(self, entry: dict[str, Any]) -> None:
        os.write(self._trace, json.dumps(entry).encode() + b"\n")

    def _finish_step(self, steps: int) -> None:
        self._left -= steps
        if self._left == 0:
            self._report({"done": True})

    def _step(self, step: dict[str, Any]) -> None:
        super()._step(step)
        self._finish_step(1)

    def _remember(self, kind: str, message: Any) -> None:
        super()._remember(kind, message)
        identity = "" if kind in ("tuple", "heartbeat", "taskids") else message.get("id", "")
        name = f"{kind}:{json.dumps(identity)}" if identity != "" else kind
        self._report({"received": message if kind == "taskids" else name})


if __name__ == "__main__":
    TracedPlayer(player.load_case(CASE, None)).play()
