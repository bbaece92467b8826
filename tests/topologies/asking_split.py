"""A bolt that waits for the task ids of each emit; what conf `wrong` says it does wrong from the third tuple on.

ack-first: it emits behind its ack; no-values: it emits a tuple of none; ack-again: it acks a second time, behind the
ids of another emit. unasked, which is right: it wants no ids any more, and writes an emit and the ack together.
two-at-once, which is right: it writes two emits together, and waits for the ids of both.
"""

from multilang_cli.component.bolt import Bolt, Tuple

RIGHT = 2


class AskingSplit(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:  # type: ignore[type-arg]
        del context
        self.wrong = conf["wrong"]
        self.seen = 0

    def process(self, tup: Tuple) -> None:
        self.seen += 1
        wrong = self.wrong if self.seen > RIGHT else ""
        if wrong == "unasked":
            emit = {"command": "emit", "anchors": [tup.id], "tuple": ["word"], "need_task_ids": False}
            self._write(emit, more=True)
            self.ack(tup)
            return
        if wrong == "two-at-once":
            emit = {"command": "emit", "anchors": [tup.id], "tuple": ["word"]}
            self._write(emit, more=True)
            self._write(emit)
            self._await_task_ids()
            self._await_task_ids()
            self.ack(tup)
            return
        if wrong == "ack-first":
            self.ack(tup)
        self.emit([] if wrong == "no-values" else ["word"], anchors=[tup], need_task_ids=True)
        if wrong != "ack-first":
            self.ack(tup)
        if wrong == "ack-again":
            self.emit(["word"], need_task_ids=True)
            self._write({"command": "ack", "id": tup.id})


AskingSplit().run()
