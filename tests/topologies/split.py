"""Splits sentences; with `waits` it waits for task ids.

By the words of conf: the first with `fails` is failed, with `dies` it exits, `keeps` is kept.
"""

import sys

from multilang_cli.component.bolt import Bolt, Tuple


class Split(Bolt):
    def initialize(self, conf: dict, context: dict) -> None:  # type: ignore[type-arg]
        del context
        self.fails, self.dies, self.keeps = (conf.get(key) for key in ("fails", "dies", "keeps"))
        self.anchored = conf.get("anchored", True)
        self.waits = conf.get("waits", False)

    def process(self, tup: Tuple) -> None:
        words = tup.values[0].split()
        if self.dies in words:
            sys.stderr.write("no such word\n")
            sys.exit(7)
        if self.keeps in words:
            return
        if self.fails in words:
            self.fails = None
            self.fail(tup)
            return
        for word in words:
            self.emit([word], anchors=[tup] if self.anchored else (), need_task_ids=self.waits)
        self.ack(tup)


Split().run()
