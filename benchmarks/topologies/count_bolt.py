"""A bolt that counts words, and acks: the last of a topology."""

from collections import Counter

import storm


class CountBolt(storm.BasicBolt):
    def initialize(self, conf: dict, context: dict) -> None:
        del conf, context
        self.counts = Counter()

    def process(self, tup: storm.Tuple) -> None:
        self.counts[tup.values[0]] += 1


CountBolt().run()
