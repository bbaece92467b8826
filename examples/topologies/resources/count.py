"""Counts words, and emits each with its count so far."""

from collections import Counter

from multilang_cli.component.bolt import BasicBolt, Tuple


class Count(BasicBolt):
    def initialize(self, conf: dict, context: dict) -> None:
        self.counts: Counter[str] = Counter()

    def process(self, tup: Tuple) -> None:
        self.counts[tup.values[0]] += 1
        self.emit([tup.values[0], self.counts[tup.values[0]]])


Count().run()
