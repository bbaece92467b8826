"""Asks what may take long in a thread of its own, so that Storm never waits for it: one question at a time."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")


class Asker(Generic[Answer]):
    """A thread that answers questions. It ends with the process, whatever it waits for."""

    def __init__(self) -> None:
        self.busy = False
        self._questions: SimpleQueue[Callable[[], Answer]] = SimpleQueue()
        self._answers: SimpleQueue[Answer | Exception] = SimpleQueue()
        Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            question = self._questions.get()
            try:
                self._answers.put(question())
            except Exception as error:  # noqa: BLE001 - raised where the answer is waited for
                self._answers.put(error)

    def ask(self, question: Callable[[], Answer]) -> None:
        """Have `question` called; until its answer is taken no other may be asked."""
        self.busy = True
        self._questions.put(question)

    def answer(self, limit: float = 0.0) -> Answer | None:
        """The answer, waiting at most `limit` seconds; None if there is none yet. Raises what the question raised."""
        if not self.busy:
            return None
        try:
            found = self._answers.get(timeout=limit) if limit > 0 else self._answers.get_nowait()
        except Empty:
            return None
        self.busy = False
        if isinstance(found, Exception):
            raise found
        return found
