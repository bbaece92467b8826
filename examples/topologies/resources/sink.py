"""Acks whatever comes."""

from multilang_cli.component.bolt import BasicBolt, Tuple


class Sink(BasicBolt):
    def process(self, tup: Tuple) -> None:
        pass


Sink().run()
