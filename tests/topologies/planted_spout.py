"""A spout of the numbers 1 to 12 with a planted bug, named by its argument: what it does with a fail."""

import sys

from multilang_cli.component.spout import Spout

TIMES = {"no_bug": 1, "swallows_fails": 0, "replays_twice": 2}[sys.argv[1]]


class Numbers(Spout):
    def __init__(self) -> None:
        self.waiting = list(range(1, 13))

    def next_tuple(self) -> None:
        if not self.waiting:
            self.idle()
            return
        number = self.waiting.pop(0)
        self.emit([number], id=number)

    def fail(self, id: int) -> None:  # noqa: A002
        self.waiting += [id] * TIMES


Numbers().run()
