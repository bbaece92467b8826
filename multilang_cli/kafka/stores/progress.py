"""Stores of progress: the consumer group's committed offsets, a file, or ZooKeeper in the form of Storm 0.9.3.

Each store gives the next offset to read of a partition, and takes new ones. What it can't read it says: progress that
is lost in silence would read a topic twice, or skip it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from multilang_cli.kafka.start import Committed, GivenUp
from multilang_cli.transcript.private import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_OFFSETS = range(-(2**31), 2**62)
"""Offsets, and the negative numbers that other clients have for the ends of a partition."""


class ProgressError(Exception):
    """Progress could not be read or written: a sentence; it may work later."""


class ProgressOwner(msgspec.Struct, frozen=True):
    """Writer of progress: the topology's name, its id (new with each deployment), and the task."""

    topology: str
    deployment: str
    task: int


class CommitMetadata(msgspec.Struct):
    """Metadata of an offset that a consumer group commits (``CommitMetadata`` of storm-kafka-client)."""

    topologyId: str = ""  # noqa: N815 (as Storm writes it)
    taskId: int = 0  # noqa: N815
    givenUp: GivenUp = GivenUp()  # noqa: N815

    def told(self, given_up: GivenUp | None) -> str:
        """As text, with what was given up."""
        owner: dict[str, Any] = {"topologyId": self.topologyId, "taskId": self.taskId}
        return json.dumps(owner | ({"givenUp": msgspec.to_builtins(given_up)} if given_up and given_up.count else {}))

    @classmethod
    def read(cls, text: str | None) -> CommitMetadata:
        """The metadata in a text; empty where somebody else wrote it."""
        try:
            return msgspec.json.decode(text or "{}", type=cls)
        except (msgspec.MsgspecError, UnicodeError):
            return cls()


class Store(Protocol):
    """Keeps progress, by partition."""

    def load(self, partition: int) -> Committed | None:
        """Read the stored progress, None if there is none. Raises ProgressError."""
        ...

    def store(self, offsets: Mapping[int, int]) -> None:
        """Begin to store the next offset to read of these partitions. Raises ProgressError."""
        ...

    def stored(self) -> dict[int, int]:
        """Offsets stored since this was last asked. Raises ProgressError if some could not be."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


def storm_state(
    topic: str, partition: int, offset: int, owner: ProgressOwner, broker: tuple[str, int]
) -> dict[str, Any]:
    """Progress as ``PartitionManager.commit`` of Storm 0.9.3 writes it."""
    return {
        "topology": {"id": owner.deployment, "name": owner.topology},
        "offset": offset,
        "partition": partition,
        "broker": {"host": broker[0], "port": broker[1]},
        "topic": topic,
    }


def read_state(text: bytes, owner: ProgressOwner, where: str) -> Committed:
    """The progress in JSON of that form. Raises ProgressError."""
    try:
        state = json.loads(text)
        offset, deployment = state["offset"], state.get("topology", {}).get("id")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ProgressError(f"{where} holds no progress of a Kafka spout: {error!r}") from None
    if not isinstance(offset, int) or isinstance(offset, bool):
        raise ProgressError(f"{where} holds no progress of a Kafka spout: its offset is no whole number")
    if offset not in _OFFSETS:
        raise ProgressError(f"{where} holds no progress of a Kafka spout: its offset is beyond all that there are")
    return Committed(offset, ours=deployment == owner.deployment, topic_id=str(state.get("topicId", "")))


class FileStore:
    """One JSON file for each partition in a folder of the spout's own, replaced as a whole.

    `topic_id`: tells what Kafka calls the topic now.
    """

    def __init__(self, folder: str, topic: str, owner: ProgressOwner, topic_id: Callable[[], str]) -> None:
        self._topic_id = topic_id
        self._folder = Path(folder)
        self._topic = topic
        self._owner = owner
        self._stored: dict[int, int] = {}

    def _path(self, partition: int) -> Path:
        return self._folder / f"{self._topic}-{partition}.json"

    def load(self, partition: int) -> Committed | None:
        """Read the stored progress, None if there is none. Raises ProgressError."""
        path = self._path(partition)
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ProgressError(f"{path} can't be read: {error.strerror}") from None
        return read_state(text, self._owner, str(path))

    def store(self, offsets: Mapping[int, int]) -> None:
        """Store the next offset to read of these partitions. Raises ProgressError."""
        for partition, offset in offsets.items():
            path = self._path(partition)
            state = storm_state(self._topic, partition, offset, self._owner, ("", 0))
            state["topicId"] = self._topic_id()
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                with whole_file(path, "w", encoding="utf-8") as file:
                    file.write(json.dumps(state))
            except OSError as error:
                raise ProgressError(f"{path} can't be written: {error.strerror}") from None
            self._stored[partition] = offset

    def stored(self) -> dict[int, int]:
        """Offsets stored since this was last asked."""
        done, self._stored = self._stored, {}
        return done

    def close(self) -> None:
        """Nothing is held."""
