"""Counts words, and acks; with ticks it acks only then, all at once."""

from collections import Counter

from multilang_cli.component.bolt import Bolt, Tuple


class Count(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:  # type: ignore[type-arg]
        del context
        self.counts: Counter[str] = Counter()
        self.held: list[Tuple] = []
        self.ticks = bool(conf.get("topology.tick.tuple.freq.secs"))

    def process(self, tup: Tuple) -> None:
        if tup.stream == "__tick":
            for each in [*self.held, tup]:
                self.ack(each)
            self.held.clear()
            return
        self.counts[tup.values[0]] += 1
        if self.ticks:
            self.held.append(tup)
            return
        self.emit([tup.values[0], self.counts[tup.values[0]]], anchors=[tup])
        self.ack(tup)


Count().run()
