# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201
import time

import storm

SENTENCES = ["the cow jumped over the moon", "an apple a day keeps the doctor away", "four score and seven years ago"]


class SentenceSpout(storm.Spout):
    def initialize(self, conf, context):  # noqa: ARG002
        self.waiting = [[str(number), sentence] for number, sentence in enumerate(SENTENCES)]
        self.pending = {}

    def nextTuple(self):  # noqa: N802
        if not self.waiting:
            time.sleep(0.005)
            return
        message_id, sentence = self.waiting.pop(0)
        self.pending[message_id] = sentence
        storm.emit([sentence], id=message_id)

    def ack(self, message_id):
        self.pending.pop(message_id, None)

    def fail(self, message_id):
        if message_id in self.pending:
            self.waiting.append([message_id, self.pending.pop(message_id)])


SentenceSpout().run()
