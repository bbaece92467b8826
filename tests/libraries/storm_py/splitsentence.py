# mypy: ignore-errors
import storm


class SplitSentenceBolt(storm.BasicBolt):
    def process(self, tup):  # noqa: ANN001, ANN201
        for word in tup.values[0].split(" "):
            storm.emit([word])


SplitSentenceBolt().run()
