"""Acks whatever comes, not too fast."""

import time

from multilang_cli.component.bolt import BasicBolt, Tuple


class Sink(BasicBolt):
    def process(self, tup: Tuple) -> None:
        del tup
        time.sleep(0.01)


Sink().run()
