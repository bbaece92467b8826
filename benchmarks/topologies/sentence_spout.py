"""A spout that emits `sentences` (of conf) sentences, one a call, each with an id; what fails it does not repeat."""

import storm

SENTENCES = [
    "the cow jumped over the moon",
    "an apple a day keeps the doctor away",
    "four score and seven years ago",
    "snow white and the seven dwarfs",
    "i am at two with nature",
]


class SentenceSpout(storm.Spout):
    def initialize(self, conf: dict, context: dict) -> None:
        del context
        self.left = conf["sentences"]
        self.number = 0

    def nextTuple(self) -> None:
        if self.number < self.left:
            self.number += 1
            storm.emit([SENTENCES[self.number % len(SENTENCES)]], id=self.number)


SentenceSpout().run()
