"""A bolt that emits each word of a sentence, anchored to it, and acks it; storm.py waits for the task ids of each."""

import storm


class SplitBolt(storm.BasicBolt):
    def process(self, tup: storm.Tuple) -> None:
        for word in tup.values[0].split():
            storm.emit([word])


SplitBolt().run()
