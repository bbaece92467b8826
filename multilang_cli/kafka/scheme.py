"""Schemes: how a message becomes the values of tuples (``backtype.storm.spout.MultiScheme``)."""

from __future__ import annotations

import base64
import importlib
import json
from collections.abc import Callable
from typing import Any

from multilang_cli.component.wire import encode
from multilang_cli.kafka.config import KafkaConfigError
from multilang_cli.kafka.partition_manager import KafkaRecord, SchemeError

Scheme = Callable[[KafkaRecord], list[list[Any]]]
"""Gives the values of each tuple: none, one or several."""


def read(text: str) -> Scheme:
    """The scheme of this name. Raises KafkaConfigError.

    ``raw``: the bytes, in base64, since JSON has no bytes. ``string``: as UTF-8. ``json:FIELD,FIELD``: those fields of
    an object, null where it lacks one. ``python:MODULE:FUNCTION``: a function of a record that gives lists of values.
    """
    name, _, rest = text.partition(":")
    if name == "raw" and not rest:
        return _raw
    if name == "string" and not rest:
        return _string
    if name == "json" and rest:
        return _fields(tuple(rest.split(",")))
    if name == "python" and rest.count(":") == 1:
        return _python(*rest.split(":"))
    raise KafkaConfigError(
        f"{text!r} is no scheme; expected raw, string, json:FIELD,FIELD or python:MODULE:FUNCTION",
    )


def _raw(record: KafkaRecord) -> list[list[Any]]:
    return [[base64.b64encode(record.value or b"").decode()]] if record.value else []


def _string(record: KafkaRecord) -> list[list[Any]]:
    return [[record.value.decode("utf-8", "replace")]] if record.value else []


def _fields(names: tuple[str, ...]) -> Scheme:
    def scheme(record: KafkaRecord) -> list[list[Any]]:
        """A row of the named fields of a JSON object; none for a message without a value. Raises SchemeError."""
        if not record.value:
            return []
        try:
            value = json.loads(record.value)
        except (ValueError, RecursionError) as error:
            raise SchemeError(f"the message is no JSON: {error}") from None
        if not isinstance(value, dict):
            raise SchemeError("the message is no JSON object")
        return _sendable([[value.get(name) for name in names]])

    return scheme


def _python(module: str, function: str) -> Scheme:
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise KafkaConfigError(f"the scheme {module}:{function} can't be imported: {error}") from None
    if not callable(found):
        raise KafkaConfigError(f"the scheme {module}:{function} is no function")

    def scheme(record: KafkaRecord) -> list[list[Any]]:
        """The rows that the user's function makes of a message. Raises SchemeError, whatever it raises."""
        try:
            rows = [list(values) for values in found(record)]
        except Exception as error:
            raise SchemeError(f"{module}:{function} failed on the message: {error!r}") from error
        return _sendable(rows)

    return scheme


def _sendable(rows: list[list[Any]]) -> list[list[Any]]:
    """The same. Raises SchemeError if Storm can't be sent them: a NaN, half a surrogate pair, a value JSON lacks."""
    try:
        encode(rows)
    except (ValueError, TypeError) as error:
        raise SchemeError(f"its values can't be sent to Storm: {error}") from None
    return rows
