"""A bolt that does all by the protocol: it sends each word to a task of its choice, by a direct emit."""

from __future__ import annotations

from typing import Any

from multilang_cli.component.bolt import BasicBolt, Tuple


class DirectBolt(BasicBolt):
    task: int

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        del conf
        targets = context["stream->target->grouping"]["direct"]
        self.task = min(int(task) for task, name in context["task->component"].items() if name in targets)

    def process(self, tup: Tuple) -> None:
        for word in tup.values[0].split():
            self.emit([word], stream="direct", direct_task=self.task)


if __name__ == "__main__":
    DirectBolt().run()
