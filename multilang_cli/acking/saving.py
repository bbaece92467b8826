"""Saves and restores what this package remembers, as JSON values: a tracker, an acker, a keeper's tuples."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

Saved = TypeVar("Saved", bound=msgspec.Struct)


def to_plain(state: msgspec.Struct) -> dict[str, Any]:
    """The state as JSON values; ids that are keys are text there."""
    plain = msgspec.to_builtins(state, str_keys=True)
    assert isinstance(plain, dict)  # noqa: S101 (a struct becomes an object)
    return plain


def from_plain(plain: dict[str, Any], kind: type[Saved]) -> Saved:
    """The state of this kind from `to_plain`. Raises msgspec.ValidationError if it is none."""
    return msgspec.convert(plain, kind, str_keys=True)
