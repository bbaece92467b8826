"""A spout of a finite list, conf `sentences`; what fails it emits again, at once. conf `ids` false: without ids."""

from multilang_cli.component.spout import Spout


class Queue(Spout):
    def initialize(self, conf: dict, context: dict) -> None:  # type: ignore[type-arg]
        del context
        self.waiting = list(enumerate(conf["sentences"], start=1))
        self.pending: dict[object, str] = {}
        self.ids = conf.get("ids", True)

    def next_tuple(self) -> None:
        if not self.waiting:
            return
        number, sentence = self.waiting.pop(0)
        self.pending[number] = sentence
        self.emit([sentence], id=number if self.ids else None, need_task_ids=True)

    def ack(self, id: object) -> None:  # noqa: A002
        self.pending.pop(id)

    def fail(self, id: object) -> None:  # noqa: A002
        self.waiting.append((id, self.pending.pop(id)))  # type: ignore[arg-type]


Queue().run()
