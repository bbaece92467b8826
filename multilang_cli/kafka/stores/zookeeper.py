"""Progress in ZooKeeper, where Storm 0.9.3's KafkaSpout keeps it and in its form: ROOT/ID/partition_N.

Whoever moves away from that spout, or back to it, goes on where the other stopped.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from multilang_cli.kafka.questions import Asker
from multilang_cli.kafka.stores.progress import ProgressError, ProgressOwner, read_state, storm_state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from threading import Event

    from multilang_cli.kafka.start import Committed

ZOOKEEPER_LIMIT = 3.0
"""Seconds that an answer is waited for, never in the thread that Storm waits for."""
TROUBLE = (KazooException, KazooTimeoutError)


class ZooKeeperStore:
    """One node for each partition. `leader`: where the leader of a partition listens; Storm writes it down too."""

    def __init__(
        self,
        hosts: str,
        path: str,
        topic: str,
        owner: ProgressOwner,
        *,
        leader: Callable[[int], tuple[str, int]],
    ) -> None:
        self._path = path.rstrip("/")
        self._topic = topic
        self._owner = owner
        self._leader = leader
        self._writer: Asker[dict[int, int]] = Asker()
        self._wanted: dict[int, int] = {}
        self._hosts = hosts
        self._client = KazooClient(hosts, timeout=10.0)
        self._connecting: Event | None = None

    def _node(self, partition: int) -> str:
        return f"{self._path}/partition_{partition}"

    def _ready(self) -> KazooClient:
        """The client, connected. Raises ProgressError if it isn't within the limit; it goes on trying."""
        if self._connecting is None:
            self._connecting = self._client.start_async()
        self._connecting.wait(ZOOKEEPER_LIMIT)
        if not self._client.connected:
            raise ProgressError(f"ZooKeeper at {self._hosts} does not answer; {self._path} is not read or written yet")
        return self._client

    def load(self, partition: int) -> Committed | None:
        """Read the stored progress, None if there is none. Raises ProgressError."""
        try:
            text, _ = self._ready().get_async(self._node(partition)).get(timeout=ZOOKEEPER_LIMIT)
        except NoNodeError:
            return None
        except TROUBLE as error:
            raise ProgressError(f"ZooKeeper's {self._node(partition)} can't be read: {error!r}") from None
        return read_state(text, self._owner, f"ZooKeeper's {self._node(partition)}")

    def store(self, offsets: Mapping[int, int]) -> None:
        """Begin to store the next offset to read of these partitions, in a thread of its own."""
        self._wanted.update(offsets)
        self._begin()

    def _begin(self) -> None:
        if self._wanted and not self._writer.busy:
            self._writer.ask(partial(self._write, self._wanted))
            self._wanted = {}

    def _write(self, offsets: dict[int, int]) -> dict[int, int]:
        client = self._ready()
        for partition, offset in offsets.items():
            state = storm_state(self._topic, partition, offset, self._owner, self._leader(partition))
            text = json.dumps(state).encode()
            try:
                client.ensure_path_async(self._path).get(timeout=ZOOKEEPER_LIMIT)
                try:
                    client.set_async(self._node(partition), text).get(timeout=ZOOKEEPER_LIMIT)
                except NoNodeError:
                    client.create_async(self._node(partition), text).get(timeout=ZOOKEEPER_LIMIT)
            except TROUBLE as error:
                raise ProgressError(f"ZooKeeper's {self._node(partition)} can't be written: {error!r}") from None
        return offsets

    def stored(self) -> dict[int, int]:
        """Offsets stored since this was last asked. Raises ProgressError if some were not."""
        done = self._writer.answer()
        self._begin()
        return done or {}

    def close(self) -> None:
        """Let go of the connection."""
        if self._connecting is not None:
            self._client.stop()
            self._client.close()
