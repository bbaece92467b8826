# mypy: ignore-errors
from streamparse import Bolt


class SentenceSplitterBolt(Bolt):
    outputs = ["word"]  # noqa: RUF012

    def process(self, tup):  # noqa: ANN001, ANN201
        for word in tup.values[0].split(" "):
            self.emit([word])
