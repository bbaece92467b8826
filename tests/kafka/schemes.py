"""A user's scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.kafka.scheme import OnStream

if TYPE_CHECKING:
    from multilang_cli.kafka.partition_manager import KafkaRecord


def words(record: KafkaRecord) -> list[list[Any]]:
    """A tuple a word."""
    if record.value == b"fail":
        raise KeyError("fail")
    if record.value == b"bytes":
        return [[record.value]]
    return [[word] for word in (record.value or b"").decode().split()]


def by_length(record: KafkaRecord) -> list[list[Any]]:
    """Long words on a stream of their own."""
    return [OnStream("long", [word]) if len(word) > 1 else [word] for [word] in words(record)]
