"""Opens the store that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.kafka.config import KafkaConfigError
from multilang_cli.kafka.stores.progress import FileStore
from multilang_cli.kafka.stores.zookeeper import ZooKeeperStore

if TYPE_CHECKING:
    from multilang_cli.kafka.config import KafkaConfig
    from multilang_cli.kafka.reader import Reader
    from multilang_cli.kafka.stores.progress import ProgressOwner, Store


def open_store(config: KafkaConfig, owner: ProgressOwner, reader: Reader) -> Store:
    """The store for progress. Raises KafkaConfigError if none has that name."""
    kind, _, rest = config.progress.partition(":")
    if kind == "group" and not rest:
        return reader
    if kind == "file" and rest:
        return FileStore(f"{rest}/{config.id}", config.topic, owner, lambda: reader.known_topic_id)
    hosts, slash, root = rest.partition("/")
    if kind == "zookeeper" and hosts and slash:
        path = f"/{root.strip('/')}/{config.id}" if root else f"/{config.id}"
        return ZooKeeperStore(hosts, path, config.topic, owner, leader=reader.leader)
    raise KafkaConfigError(f"{config.progress!r} is no store; expected group, file:FOLDER or zookeeper:HOSTS/ROOT")
