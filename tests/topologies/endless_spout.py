"""A spout that never runs out."""

from itertools import count

from multilang_cli.component.spout import Spout


class Endless(Spout):
    numbers = count(1)

    def next_tuple(self) -> None:
        number = next(self.numbers)
        self.emit([f"number {number}"], id=number)


Endless().run()
