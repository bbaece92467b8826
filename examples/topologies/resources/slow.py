"""Takes its time for each tuple."""

import time

from multilang_cli.component.bolt import BasicBolt, Tuple


class Slow(BasicBolt):
    def process(self, tup: Tuple) -> None:
        time.sleep(0.02)


Slow().run()
