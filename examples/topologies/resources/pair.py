"""Emits tuples in pairs, anchored to both; what has no partner by the second tick goes alone."""

from multilang_cli.component.bolt import Bolt, Tuple


class Pair(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:
        self.held: Tuple | None = None
        self.waited = False

    def process(self, tup: Tuple) -> None:
        if tup.stream == "__tick":
            if self.held is not None and self.waited:
                self.pair(self.held)
            self.waited = self.held is not None
            self.ack(tup)
        elif self.held is None:
            self.held, self.waited = tup, False
        else:
            self.pair(self.held, tup)

    def pair(self, *tuples: Tuple) -> None:
        self.held = None
        self.emit([tuples[0].values[0], tuples[-1].values[0]], anchors=tuples)
        for each in tuples:
            self.ack(each)


Pair().run()
