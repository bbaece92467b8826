"""The bolt of the demo: counts words, emits each with its count, and acks."""

from collections import Counter

from multilang_cli.component.bolt import BasicBolt, Tuple


class CountBolt(BasicBolt):
    """Counts the first value of each tuple."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: Counter[str] = Counter()

    def process(self, tup: Tuple) -> None:
        """Count one word."""
        word = str(tup.values[0])
        self._counts[word] += 1
        self.emit([word, self._counts[word]])


if __name__ == "__main__":
    CountBolt().run()
