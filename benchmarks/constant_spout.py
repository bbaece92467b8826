"""Emits the same text for ever, each time under an id of its own: what a spout costs that reads nothing."""

from multilang_cli.component.spout import Spout


class ConstantSpout(Spout):
    """Counts, for its ids."""

    count = 0

    def next_tuple(self) -> None:
        """Emit."""
        self.count += 1
        self.emit(["x" * 90], id=f"0:0:{self.count}:0:0")


if __name__ == "__main__":
    ConstantSpout().run()
