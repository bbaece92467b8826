"""Splits sentences, and anchors the words to nothing."""

from multilang_cli.component.bolt import Bolt, Tuple


class LooseSplit(Bolt):
    def process(self, tup: Tuple) -> None:
        for word in tup.values[0].split():
            self.emit([word])
        self.ack(tup)


LooseSplit().run()
