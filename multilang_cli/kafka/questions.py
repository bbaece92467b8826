"""Questions of a task to Kafka and to its store; they may take long, so a thread asks them: Storm never waits."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from multilang_cli.kafka.reader import FailedFetchError
from multilang_cli.kafka.stores.progress import ProgressError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from multilang_cli.kafka.reader import Reader
    from multilang_cli.kafka.start import BrokerOffsets, Committed
    from multilang_cli.kafka.stores.progress import Store


Answer = TypeVar("Answer")


class Asker(Generic[Answer]):
    """A thread that answers questions. It ends with the process, whatever it waits for."""

    def __init__(self) -> None:
        self.busy = False
        self._questions: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            question = self._questions.get()
            if question is None:
                return
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
            found: Answer | Exception = self._answers.get(timeout=limit) if limit > 0 else self._answers.get_nowait()
        except Empty:
            return None
        self.busy = False
        if isinstance(found, Exception):
            raise found
        return found

    def end(self, last: Callable[[], object]) -> None:
        """Have `last` called when what is asked is answered, and end the thread; nothing is asked or answered then."""
        self.busy = False
        self._questions.put(last)
        self._questions.put(None)


class KnownTopic(NamedTuple):
    """The topic's partitions. `topic_id` tells it from one of the same name that was made later; "" for unknown."""

    partitions: Sequence[int]
    topic_id: str


class StartFacts(NamedTuple):
    """Facts that decide where a partition is read from."""

    seen: BrokerOffsets
    stored: Committed | None


class StartFactsFound(NamedTuple):
    """Facts found out about partitions, and what went wrong with the others, "" for nothing."""

    found: Mapping[int, StartFacts]
    trouble: str


def known(reader: Reader) -> KnownTopic:
    """The topic as it is now. Raises FailedFetchError."""
    return KnownTopic(reader.partitions(), reader.topic_id())


def places(reader: Reader, store: Store, wanted: Sequence[int], at: int | None) -> StartFactsFound:
    """Ends and stored progress of each of these; one that can't be asked for holds up no other."""
    found, trouble = {}, ""
    for partition in wanted:
        try:
            found[partition] = StartFacts(reader.seen(partition, at), store.load(partition))
        except (FailedFetchError, ProgressError) as error:
            trouble = str(error)
    return StartFactsFound(found, trouble)
