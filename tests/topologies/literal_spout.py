"""A spout that emits the JSON of conf `literal` once, character by character as it stands there."""

import os

from multilang_cli.component.spout import Spout

STDOUT = os.dup(1)


class Literals(Spout):
    def initialize(self, conf: dict, context: dict) -> None:  # type: ignore[type-arg]
        del context
        self.left = [conf["literal"]]

    def next_tuple(self) -> None:
        if self.left:
            text = '{"command":"emit","id":1,"need_task_ids":false,"tuple":[%s]}\nend\n'
            os.write(STDOUT, (text % self.left.pop()).encode())


Literals().run()
