"""A bolt with a planted bug, named by its argument: it passes tuples on, or should."""

import sys
import time

from multilang_cli.component.bolt import Bolt, Tuple

BUG = sys.argv[1]


class Planted(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:  # type: ignore[type-arg]
        del conf, context
        self.before: Tuple | None = None
        self.failed = False

    def process(self, tup: Tuple) -> None:
        getattr(self, BUG)(tup)

    def no_bug(self, tup: Tuple) -> None:
        self.emit(tup.values, anchors=[tup])
        self.ack(tup)

    def anchors_twice(self, tup: Tuple) -> None:
        """No bug: Storm gives each of the two an edge of its own."""
        self.emit(tup.values, anchors=[tup, tup])
        self.ack(tup)

    def anchors_nothing(self, tup: Tuple) -> None:
        self.emit(tup.values)
        self.ack(tup)

    def anchors_another(self, tup: Tuple) -> None:
        """Anchors both tuples of a pair to the first, and acks both."""
        if self.before is None:
            self.before = tup
            return
        for each in (self.before, tup):
            self.emit(each.values, anchors=[self.before])
        self.ack(self.before)
        self.ack(tup)
        self.before = None

    def acks_first(self, tup: Tuple) -> None:
        """Acks before the work is done, which takes a while now and then."""
        self.ack(tup)
        if tup.values == [5]:
            time.sleep(1)
        self.emit(tup.values)

    def acks_late(self, tup: Tuple) -> None:
        """Acks after the message timeout."""
        if not self.failed:
            self.failed = True
            time.sleep(2.2)
        self.no_bug(tup)

    def acks_never(self, tup: Tuple) -> None:
        self.emit(tup.values, anchors=[tup])

    def acks_instead_of_failing(self, tup: Tuple) -> None:
        if tup.values[0] == 3:
            self.ack(tup)
        else:
            self.no_bug(tup)

    def fails_once(self, tup: Tuple) -> None:
        if tup.values[0] == 3 and not self.failed:
            self.failed = True
            self.fail(tup)
        else:
            self.no_bug(tup)


Planted().run()
