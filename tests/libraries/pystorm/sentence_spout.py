# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201
import time

from pystorm import ReliableSpout

SENTENCES = ["the cow jumped over the moon", "an apple a day keeps the doctor away", "four score and seven years ago"]


class SentenceSpout(ReliableSpout):
    def initialize(self, conf, context):  # noqa: ARG002
        self.waiting = list(enumerate(SENTENCES))

    def next_tuple(self):
        if not self.waiting:
            time.sleep(0.005)
            return
        number, sentence = self.waiting.pop(0)
        self.emit([sentence], tup_id=str(number))


SentenceSpout().run()
