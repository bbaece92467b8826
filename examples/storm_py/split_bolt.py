#!/usr/bin/env python3
"""A bolt that splits sentences into words, with the real storm.py (see get_storm.py).

BasicBolt anchors what is emitted to the tuple in process, acks that tuple at the end, and answers heartbeats.
"""

import json

import storm


class SplitBolt(storm.BasicBolt):
    """Emits each word of the first value."""

    def process(self, tup: storm.Tuple) -> None:
        """Split one sentence."""
        sentence = tup.values[0] if tup.values else ""
        if not isinstance(sentence, str):
            sentence = json.dumps(sentence, separators=(",", ":"))
        for word in sentence.split():
            storm.emit([word])  # this also waits for the task ids: storm.py always asks for them


SplitBolt().run()
