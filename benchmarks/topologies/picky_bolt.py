"""A bolt as split_bolt, that fails each 7th sentence after its first word, and never settles each 50th."""

import storm

FAILED, FORGOTTEN = 7, 50


class PickyBolt(storm.Bolt):
    def initialize(self, conf: dict, context: dict) -> None:
        del conf, context
        self.number = 0

    def process(self, tup: storm.Tuple) -> None:
        self.number += 1
        words = tup.values[0].split()
        if self.number % FAILED == 0:
            storm.emit([words[0]], anchors=[tup])
            storm.fail(tup)
            return
        for word in words:
            storm.emit([word], anchors=[tup])
        if self.number % FORGOTTEN:
            storm.ack(tup)


PickyBolt().run()
