"""Makes messages of Kafka of tuples (``FieldNameBasedTupleToKafkaMapper``). Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.kafka.config import is_topic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.kafka.bolt.config import KafkaBoltConfig

SHOWN_OF_VALUE = 60


class MappingError(ValueError):
    """A tuple that can be no message, in a sentence."""


class OutgoingRecord(NamedTuple):
    """A message to write."""

    topic: str
    key: bytes | None
    value: bytes | None


def record_of(config: KafkaBoltConfig, fields: Sequence[str], values: Sequence[Any]) -> OutgoingRecord:
    """The message of a tuple. `fields`: their names, empty where Storm tells none. Raises MappingError."""
    at = _position(config.message_field, fields, len(values))
    if at is None:
        told = (
            f"its fields are {', '.join(fields)}" if fields else f"it has {len(values)} values, and Storm told no names"
        )
        raise MappingError(f"the tuple has no field {config.message_field!r} for the message: {told}")
    topic: Any = config.topic
    if config.topic_field and (named := _position(config.topic_field, fields, len(values))) is not None:
        topic = values[named]
    if not isinstance(topic, str) or not is_topic(topic):
        raise MappingError(f"{str(topic)[:SHOWN_OF_VALUE]!r} is no topic's name")
    key = _position(config.key_field, fields, len(values))
    return OutgoingRecord(topic, None if key is None else _bytes(values[key]), _bytes(values[at]))


def _position(name: str, fields: Sequence[str], count: int) -> int | None:
    """The index of a field's value, told by name or as a number."""
    at = fields.index(name) if name in fields else int(name) if name.isascii() and name.isdecimal() else count
    return at if at < count else None


def _bytes(value: Any) -> bytes | None:
    """A value as Kafka has it: a text is its UTF-8, null stays null, all else is its JSON."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise MappingError("the tuple has half a surrogate pair, which UTF-8 has not") from None
