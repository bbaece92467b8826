"""An acker's task: its queue and its records, which die with it. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from multilang_cli.acking.acker import Acker

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.acking.messages import AckerMessage


class AckerTask:
    """`queue`: what it was sent and has not looked at. `held`: it looks at nothing until that is False again."""

    def __init__(self, task: int, make: Callable[[], Acker] = Acker) -> None:
        self.task = task
        self.queue: deque[AckerMessage] = deque()
        self.held = False
        self._make = make
        self.acker = make()

    def reset(self) -> None:
        """It died, with all it knew, and is there again."""
        self.queue.clear()
        self.acker = self._make()
