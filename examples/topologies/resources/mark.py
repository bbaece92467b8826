"""Emits the first value of each tuple, and the word that it was started with."""

import sys

from multilang_cli.component.bolt import BasicBolt, Tuple


class Mark(BasicBolt):
    def process(self, tup: Tuple) -> None:
        self.emit([tup.values[0], sys.argv[1]])


Mark().run()
