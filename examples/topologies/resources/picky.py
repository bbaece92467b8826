"""Fails the first tuple with a value that has the word that it was started with, and acks all others."""

import sys

from multilang_cli.component.bolt import Bolt, Tuple


class Picky(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:
        self.content = False

    def process(self, tup: Tuple) -> None:
        if not self.content and any(sys.argv[1] in str(value).split() for value in tup.values):
            self.content = True
            self.fail(tup)
        else:
            self.ack(tup)


Picky().run()
