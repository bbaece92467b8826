#!/usr/bin/env python3
"""A spout that emits sentences, and again those that failed, with the real storm.py (see get_storm.py)."""

import time

import storm

SENTENCES = [
    "the cow jumped over the moon",
    "an apple a day keeps the doctor away",
    "four score and seven years ago",
    "snow white and the seven dwarfs",
    "i am at two with nature",
]


class SentenceSpout(storm.Spout):
    """Emits each sentence until it is acked. storm.py sends the sync that ends each answer."""

    def initialize(self, conf: dict, context: dict) -> None:  # noqa: ARG002 - they are there, this spout needs neither
        """Start with all sentences: pairs of id and text, first still to be emitted, then not yet acked."""
        self.waiting = [(str(number), sentence) for number, sentence in enumerate(SENTENCES, start=1)]
        self.pending = {}

    def nextTuple(self) -> None:  # noqa: N802 - storm.py's name
        """Emit one sentence, with an id: so Storm will tell its fate."""
        if not self.waiting:
            time.sleep(0.01)  # nothing to emit: do not let Storm ask again at full speed
            return
        message_id, sentence = self.waiting.pop(0)
        self.pending[message_id] = sentence
        storm.emit([sentence], id=message_id)

    def ack(self, message_id: str) -> None:
        """Forget the sentence: every tuple made from it was processed."""
        self.pending.pop(message_id, None)

    def fail(self, message_id: str) -> None:
        """Put the sentence back: it was lost, or it took too long."""
        if message_id in self.pending:
            self.waiting.append((message_id, self.pending.pop(message_id)))


SentenceSpout().run()
