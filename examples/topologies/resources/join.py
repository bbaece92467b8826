"""Joins the two tuples of a number that come by two ways: what it emits is anchored to both."""

from multilang_cli.component.bolt import Bolt, Tuple


class Join(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:
        self.held: dict[int, Tuple] = {}

    def process(self, tup: Tuple) -> None:
        number, way = tup.values
        other = self.held.get(number)
        if other is None:
            self.held[number] = tup
        elif other.values[1] == way:
            # It was replayed, and the other way may be lost: this one is of the younger tree.
            self.fail(other)
            self.held[number] = tup
        else:
            del self.held[number]
            self.emit([number, f"{other.values[1]} and {way}"], anchors=[other, tup])
            self.ack(other)
            self.ack(tup)


Join().run()
