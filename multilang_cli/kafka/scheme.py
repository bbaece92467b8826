"""Schemes: how a message becomes the values of tuples (``backtype.storm.spout.MultiScheme``, ``RecordTranslator``)."""

from __future__ import annotations

import base64
import codecs
import contextlib
import importlib
import json
import re
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from multilang_cli.component.wire import encode
from multilang_cli.kafka.config import KafkaConfigError
from multilang_cli.kafka.partition_manager import KafkaRecord, SchemeAwayError, SchemeError
from multilang_cli.protocol.storm.diagnosis import HARMLESS, trap_of
from multilang_cli.protocol.wire.shapes import INT64

Scheme = Callable[[KafkaRecord], list[list[Any]]]
"""Gives the values of each tuple: none, one or several."""
_SURROGATE = re.compile("[\ud800-\udfff]")
QUOTED_BYTES = 20
"""Bytes of a message that are quoted."""


class OnStream(list[Any]):
    """Values of a tuple on a stream that a function of the user's chose: ``OnStream("late", [record.value])``."""

    def __init__(self, stream: str, values: list[Any]) -> None:
        super().__init__(values)
        self.stream = stream


def read(text: str, *, empty: bool = False) -> Scheme:
    """The scheme of this name. `empty`: it makes tuples of null and empty messages, too. Raises KafkaConfigError.

    ``raw``: the bytes, in base64, since JSON has no bytes. ``string``: as UTF-8, or another encoding. ``json``: the
    value that is written there; ``json:FIELD,FIELD``: those fields of an object, null where it lacks one. ``record``:
    what a message is besides its value, too. ``python:MODULE:FUNCTION``: a function of a record that gives lists of
    values.
    """
    made = _named(text)
    return made if empty else lambda record: made(record) if record.value else []


def _named(text: str) -> Scheme:
    name, colon, rest = text.partition(":")
    if name == "raw" and not colon:
        return _raw
    if name == "string" and (rest or not colon):
        return partial(_string, _encoding(rest or "utf-8"))
    if name == "json" and (rest or not colon):
        return partial(_json, tuple(rest.split(",")) if rest else ())
    if name == "record" and (rest or not colon):
        return _record(tuple(rest.split(",")) if rest else TRANSLATED)
    if name == "python" and rest.count(":") == 1:
        return _python(*rest.split(":"))
    raise KafkaConfigError(
        f"{text!r} is no scheme; expected raw, string, string:ENCODING, json, json:FIELD,FIELD, record, "
        "record:PART,PART or python:MODULE:FUNCTION",
    )


def _raw(record: KafkaRecord) -> list[list[Any]]:
    return [[None if record.value is None else base64.b64encode(record.value).decode()]]


def _encoding(name: str) -> str:
    try:
        # There are codecs of bytes to bytes, too, such as zlib.
        with contextlib.suppress(UnicodeError):
            b"a".decode(name)
        return codecs.lookup(name).name
    except LookupError:
        raise KafkaConfigError(f"the scheme string:{name}: there is no encoding {name!r}") from None


def _text(encoding: str, what: str, value: bytes | None) -> str | None:
    """Decode what is there. Raises SchemeError: what can't be read is said, not replaced."""
    try:
        return None if value is None else value.decode(encoding)
    except UnicodeError:
        shown = ascii((value or b"")[:QUOTED_BYTES])
        raise SchemeError(f"{what} is no {encoding}: it begins with {shown}") from None


def _string(encoding: str, record: KafkaRecord) -> list[list[Any]]:
    return _sendable([[_text(encoding, "the message", record.value)]])


def _json(names: tuple[str, ...], record: KafkaRecord) -> list[list[Any]]:
    """A row of the named fields of a JSON object, or of the value as a whole. Raises SchemeError."""
    if record.value is None:
        return [[None] * max(1, len(names))]
    try:
        value = json.loads(record.value)
    except (ValueError, RecursionError) as error:
        raise SchemeError(f"the message is no JSON: {error}") from None
    if names and not isinstance(value, dict):
        raise SchemeError("the message is no JSON object")
    return _sendable([[value.get(name) for name in names] if names else [value]])


TRANSLATED = ("topic", "partition", "offset", "key", "value")
"""As ``DefaultRecordTranslator`` of storm-kafka-client has them."""
_UTF_8 = "utf-8"
PARTS: dict[str, Callable[[KafkaRecord], Any]] = {
    "topic": lambda record: record.topic,
    "partition": lambda record: record.partition,
    "offset": lambda record: record.offset,
    "timestamp": lambda record: record.timestamp,
    "key": lambda record: _text(_UTF_8, "the key", record.key),
    "value": lambda record: _text(_UTF_8, "the message", record.value),
    "headers": lambda record: [[name, _header(name, value)] for name, value in record.headers],
}
"""Parts of a message by the name that the scheme ``record`` has for them; texts are UTF-8."""


def _header(name: str, value: str | bytes | None) -> str | None:
    return value if isinstance(value, str) else _text(_UTF_8, f"the header {name!r}", value)


def _record(names: tuple[str, ...]) -> Scheme:
    for name in names:
        if name not in PARTS:
            raise KafkaConfigError(f"the scheme record: a message has no {name!r}; it has {', '.join(PARTS)}")
    parts = [PARTS[name] for name in names]
    return lambda record: _sendable([[part(record) for part in parts]])


def _python(module: str, function: str) -> Scheme:
    """The user's function. Its module is found beside the components, too: where Storm starts them."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise KafkaConfigError(f"the scheme {module}:{function} can't be imported: {error}") from None
    if not callable(found):
        raise KafkaConfigError(f"the scheme {module}:{function} is no function")

    def scheme(record: KafkaRecord) -> list[list[Any]]:
        """The rows that the user's function makes of a message. Raises nothing but SchemeError and SchemeAwayError."""
        try:
            rows = [values if isinstance(values, OnStream) else list(values) for values in found(record)]
        except Exception as error:
            place = f"{record.topic}, partition {record.partition}: message {record.offset}"
            if _away(error):
                raise SchemeAwayError(f"{place} waits: {module}:{function} can't read it now: {error!r}") from error
            raise SchemeError(f"{module}:{function} failed on the message: {error!r}") from error
        return _sendable(rows)

    return scheme


AWAY = (ConnectionError, TimeoutError, socket.gaierror)
TRANSPORT = "TransportError"
"""The HTTP client of confluent-kafka's registry client, by version requests, httpx or httpx2, has this class."""
NOT_NOW = frozenset({401, 403, 408, 429, *range(500, 600)})
"""Statuses with which a registry refuses all, whatever the message."""


def _away(error: BaseException) -> bool:
    """True if the message is not to blame: what the function asks, such as a schema registry, does not answer.

    The causes of the error count, too: HTTP clients wrap what the network says.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AWAY) or getattr(cause, "http_status_code", None) in NOT_NOW:
            return True
        if any(each.__name__ == TRANSPORT for each in type(cause).__mro__):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _sendable(rows: list[list[Any]]) -> list[list[Any]]:
    """The same. Raises SchemeError if Storm can't be sent them: a NaN, half a surrogate pair, a value JSON lacks.

    Nor what the worker of one version dies of, again and again, since the message would be sent each time: values
    nested deep, and until 2.6 an integer beyond 64 bits. Most messages are texts and small numbers, which need not be
    encoded to see that.
    """
    if all(_is_plain(value) for values in rows for value in values):
        return rows
    try:
        text = encode(rows)
    except (ValueError, TypeError, RecursionError) as error:
        raise SchemeError(f"its values can't be sent to Storm: {error}") from None
    # Rows and a row are as deep as a message and its values.
    trap = trap_of(rows, [], text)
    if trap is not None and trap.kind not in HARMLESS:
        raise SchemeError(f"its values can't be sent to Storm: {trap.detail}")
    return rows


def _is_plain(value: Any) -> bool:
    if value.__class__ is str:
        return value.isascii() or _SURROGATE.search(value) is None
    return value is None or (value.__class__ is int and value in INT64)
