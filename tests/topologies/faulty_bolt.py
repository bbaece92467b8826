"""A bolt with a bug that only a fault in the right place shows, named by its argument: it passes numbers on."""

import sys
from pathlib import Path

from multilang_cli.component.bolt import Bolt, Tuple

BUG = sys.argv[1]


class Faulty(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:  # type: ignore[type-arg]
        # A directory that outlives the process, as a database would.
        marker = Path(conf["faulty.folder"]) / f"{context['taskid']}"
        self.restarted = marker.exists()
        marker.touch()
        self.held: list[Tuple] = []
        self.seen: set[int] = set()
        self.given = 0
        self.header = False

    def process(self, tup: Tuple) -> None:
        self.given += 1
        getattr(self, BUG)(tup)

    def no_bug(self, tup: Tuple) -> None:
        self.emit(tup.values, anchors=[tup])
        self.ack(tup)

    def sets_third_aside(self, tup: Tuple) -> None:
        """No bug: it comes back to the tuple 3 when all others are done."""
        if tup.values == [3] and not self.restarted:
            self.held.append(tup)
            return
        self.no_bug(tup)
        while tup.values == [12] and self.held:
            self.no_bug(self.held.pop())

    def acks_first(self, tup: Tuple) -> None:
        self.ack(tup)
        self.emit(tup.values)

    def acks_in_between(self, tup: Tuple) -> None:
        """The tuple goes on as two: the second comes behind the ack."""
        self.emit([tup.values[0]], anchors=[tup])
        self.ack(tup)
        self.emit([tup.values[0] + 100])

    def batches_what_it_acked(self, tup: Tuple) -> None:
        self.ack(tup)
        self.held.append(tup)
        if len(self.held) == 3:
            for each in self.held:
                self.emit(each.values)
            self.held.clear()

    def anchors_nothing(self, tup: Tuple) -> None:
        self.emit(tup.values)
        self.ack(tup)

    def anchors_no_fifth(self, tup: Tuple) -> None:
        """The branch of one in five tuples forgets the anchor."""
        self.emit(tup.values, anchors=[] if tup.values[0] % 5 == 0 else [tup])
        self.ack(tup)

    def anchors_first_child(self, tup: Tuple) -> None:
        self.emit([tup.values[0]], anchors=[tup])
        self.emit([tup.values[0] + 100])
        self.ack(tup)

    def anchors_another(self, tup: Tuple) -> None:
        """Both of a pair are anchored to the first."""
        self._in_batches(tup, 2, 0)

    def anchors_last_of_three(self, tup: Tuple) -> None:
        self._in_batches(tup, 3, -1)

    def _in_batches(self, tup: Tuple, size: int, anchor: int) -> None:
        # A replay after the last batch comes alone, and is not waited with.
        if tup.values[0] in self.seen:
            self.no_bug(tup)
            return
        self.seen.add(tup.values[0])
        self.held.append(tup)
        if len(self.held) == size or self.restarted:
            for each in self.held:
                self.emit(each.values, anchors=[self.held[anchor]])
            for each in self.held:
                self.ack(each)
            self.held.clear()

    def remembers_before_it_is_done(self, tup: Tuple) -> None:
        """Emits nothing twice, as a replay would have it."""
        if tup.values[0] not in self.seen:
            self.seen.add(tup.values[0])
            self.emit(tup.values, anchors=[tup])
        self.ack(tup)

    def keeps_its_header_in_memory(self, tup: Tuple) -> None:
        """The number 1 is a header, without which it passes nothing on."""
        if tup.values == [1]:
            self.header = True
        if self.header:
            self.emit(tup.values, anchors=[tup])
        self.ack(tup)

    def resumes_one_too_far(self, tup: Tuple) -> None:
        """Takes the first tuple behind a restart for one that it has done."""
        if not (self.restarted and self.given == 1):
            self.emit(tup.values, anchors=[tup])
        self.ack(tup)

    def anchors_nothing_when_restarted(self, tup: Tuple) -> None:
        self.emit(tup.values, anchors=[] if self.restarted else [tup])
        self.ack(tup)


Faulty().run()
