"""``org.apache.storm.testing.TestWordCounter``: counts the words in the first field, and emits each with its count."""

from __future__ import annotations

from collections import Counter

from multilang_cli.component.bolt import BasicBolt, Tuple


class TestWordCounter(BasicBolt):
    """Emits [word, count], anchored, and acks."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: Counter[str] = Counter()

    def process(self, tup: Tuple) -> None:
        """Count the word. Anything but a string is an error, as it is to the Java class."""
        word = tup.values[0]
        if not isinstance(word, str):
            raise TypeError(f"a word must be a string, not {word!r}")
        self._counts[word] += 1
        self.emit([word, self._counts[word]])


if __name__ == "__main__":
    TestWordCounter().run()
