"""Java's ``hashCode`` of the values that Storm makes of JSON: what fields and partial key groupings go by. Pure.

Up to 2.5 json-simple makes every integer a Long; since 2.6 json-smart makes it an Integer where it fits, so that
negative integers hash otherwise, and a fraction of more than 18 characters a BigDecimal. Values are as ``dialects``
gives them: int, BigInteger, float, Decimal and so on; ``java_values`` says when to ask it.
"""

from __future__ import annotations

import struct
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.storm import dialects
from multilang_cli.protocol.storm.dialects.java import java_class, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from decimal import Decimal

    from multilang_cli.protocol.storm.dialects.java import Dialect
    from multilang_cli.protocol.words.messages import Emit, Json

_INT, _LONG = 32, 64
_LOW = (1 << _INT) - 1
_NAN_FLOAT = 0x7FC00000
_TRUE, _FALSE = 1231, 1237
_UTF16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"


def java_values(emit: Emit, raw: bytes, dialect: Dialect) -> Sequence[Json]:
    """The values of an emit as Storm has them. `raw`: its frame, which is read again where Storm sees a BigDecimal."""
    if "decimal" not in emit.hazards:
        return emit.values
    effective = dialects.readings(raw, False)[dialect].effective
    return emit.values if effective is None else getattr(effective, "values", emit.values)


def java_hash(value: Json, dialect: Dialect) -> int:
    """``hashCode`` of one value, -2^31 <= it < 2^31; null is 0. Depth is no matter."""
    if isinstance(value, list | dict):
        return _hash_of_containers(value, dialect)
    return _scalar_hash(value, dialect)


def values_hash(values: Sequence[Json], dialect: Dialect) -> int:
    """``Arrays.deepHashCode`` of values in order: ``TupleUtils.chooseTaskIndex`` takes it modulo the tasks."""
    return combined_hash(java_hash(value, dialect) for value in values)


def combined_hash(hashes: Iterable[int]) -> int:
    """``Arrays.deepHashCode`` of values with these hashes."""
    total = 1
    for each in hashes:
        total = (31 * total + each) & _LOW
    return wrap(total, _INT)


def _scalar_hash(value: Json, dialect: Dialect) -> int:
    if isinstance(value, str):
        return _string_hash(value) if len(value) > _CACHED else _short_string_hash(value)
    if value is None:
        return 0
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    return _NUMBERS[java_class(value, dialect)](value)


def _string_hash(text: str) -> int:
    units = text.encode() if text.isascii() else memoryview(text.encode(_UTF16, "surrogatepass")).cast("H")
    total = 0
    for unit in units:
        total = (31 * total + unit) & _LOW
    return wrap(total, _INT)


_CACHED = 64
"""Characters up to which the hash of a string is kept: keys come again and again."""
_short_string_hash = lru_cache(maxsize=65536)(_string_hash)


def _long_hash(value: int) -> int:
    bits = value & ((1 << _LONG) - 1)
    return wrap(bits ^ (bits >> _INT), _INT)


def _double_hash(value: float) -> int:
    (bits,) = struct.unpack(">q", struct.pack(">d", value))
    return _long_hash(bits)


def _big_integer_hash(value: int) -> int:
    total, magnitude = 0, abs(int(value))
    words = (magnitude.bit_length() + _INT - 1) // _INT
    for at in reversed(range(words)):
        total = (31 * total + (magnitude >> (_INT * at) & _LOW)) & _LOW
    return wrap(-total if value < 0 else total, _INT)


def _big_decimal_hash(value: Decimal) -> int:
    sign, digits, exponent = value.as_tuple()
    unscaled = int("".join(map(str, digits)))
    return wrap(31 * _big_integer_hash(-unscaled if sign else unscaled) - int(exponent), _INT)


_NUMBERS: dict[str, Callable[[Any], int]] = {
    "Integer": int,
    "Long": _long_hash,
    "BigInteger": _big_integer_hash,
    "Double": _double_hash,
    "Float": lambda _: _NAN_FLOAT,
    "BigDecimal": _big_decimal_hash,
}
"""By class; the only Float that JSON gives is NaN."""


class _Open:
    """A list or object whose members are being hashed. `pending`: its members; of an object, each key before it."""

    def __init__(self, container: Json) -> None:
        self._is_list = isinstance(container, list)
        self._total = 1 if self._is_list else 0
        self._key = 0
        self.members = iter(container if self._is_list else container.items())

    def value_of(self, member: Any) -> Json:
        """The member's value; of an object's, the key is remembered."""
        if self._is_list:
            return member
        key, value = member
        self._key = _scalar_hash(key, "simple")
        return value

    def add(self, value_hash: int) -> None:
        """Take the hash of the member that was asked for last (``AbstractList``, ``AbstractMap``)."""
        more = 31 * self._total + value_hash if self._is_list else self._total + (self._key ^ value_hash)
        self._total = more & _LOW

    @property
    def hash(self) -> int:
        """Of what was added so far."""
        return wrap(self._total, _INT)


def _hash_of_containers(root: Json, dialect: Dialect) -> int:
    """Without recursion: a component may nest as deep as it likes."""
    open_ = [_Open(root)]
    while True:
        innermost = open_[-1]
        for member in innermost.members:
            value = innermost.value_of(member)
            if isinstance(value, list | dict):
                open_.append(_Open(value))
                break
            innermost.add(_scalar_hash(value, dialect))
        else:
            open_.pop()
            if not open_:
                return innermost.hash
            open_[-1].add(innermost.hash)
