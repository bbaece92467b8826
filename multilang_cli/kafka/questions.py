"""Questions of a task to Kafka and to its store about the topic; they may take long, so `Asker` asks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.kafka.reader import FailedFetchError
from multilang_cli.kafka.stores.progress import ProgressError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from multilang_cli.kafka.reader import Reader
    from multilang_cli.kafka.start import BrokerOffsets, Committed
    from multilang_cli.kafka.stores.progress import Store


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
