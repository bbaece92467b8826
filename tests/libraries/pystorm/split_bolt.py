# mypy: ignore-errors
from pystorm import Bolt


class SentenceSplitterBolt(Bolt):
    def process(self, tup):  # noqa: ANN001, ANN201
        for word in tup.values[0].split(" "):
            self.emit([word])


SentenceSplitterBolt().run()
