"""A bolt that waits for the task ids of each emit, and from the third tuple on does what conf `says` tells.

Each step is a list of messages that are written in one piece, with `$ID` for the id of the tuple; a message as its
text; or a number: so many lists of task ids are waited for.
"""

import json

from multilang_cli.component.bolt import Bolt, Tuple

USUAL = 2


class AskingSplit(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:  # type: ignore[type-arg]
        del context
        self.says = json.dumps(conf["says"])
        self.seen = 0

    def process(self, tup: Tuple) -> None:
        self.seen += 1
        if self.seen <= USUAL:
            self.emit(["word"], anchors=[tup], need_task_ids=True)
            self.ack(tup)
            return
        for step in json.loads(self.says.replace("$ID", tup.id)):
            if isinstance(step, int):
                for _ in range(step):
                    self._await_task_ids()
                continue
            if isinstance(step, str):
                self._send(step.encode())
                continue
            for message in step[:-1]:
                self._write(message, more=True)
            self._write(step[-1])


AskingSplit().run()
