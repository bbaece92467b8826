"""Holds words until a tick: then emits each with its count, anchored to all of them, and acks them."""

from multilang_cli.component.bolt import Bolt, Tuple


class Totals(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:
        self.held: dict[str, list[Tuple]] = {}

    def process(self, tup: Tuple) -> None:
        if tup.stream != "__tick":
            self.held.setdefault(tup.values[0], []).append(tup)
            return
        for word, tuples in self.held.items():
            self.emit([word, len(tuples)], anchors=tuples)
            for each in tuples:
                self.ack(each)
        self.held.clear()
        self.ack(tup)


Totals().run()
