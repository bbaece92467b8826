"""Java as the dialects need it: class names, casts and their errors, texts of values, strings of UTF-16 units."""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import Json

Dialect = Literal["simple-quiet", "simple", "smart"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

STRING = "java.lang.String"
LONG = "java.lang.Long"
BOOLEAN = "java.lang.Boolean"
NUMBER = "java.lang.Number"
LIST = "java.util.List"

_BEYOND = re.compile("[\U00010000-\U0010ffff]")
_INT_BITS, _LONG_BITS = 32, 64
_MOST_BITS = 13_000
"""Bits of an integer that is written out: Python refuses one of more than 4,300 digits."""
_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e7
_PACKAGES = {"BigInteger": "java.math.", "BigDecimal": "java.math."}
_JSON_PACKAGES: dict[Dialect, str] = {
    "simple-quiet": "org.apache.storm.shade.org.json.simple.",
    "simple": "org.apache.storm.shade.org.json.simple.",
    "smart": "org.apache.storm.shade.net.minidev.json.",
}
_NUMBERS = frozenset({"Integer", "Long", "BigInteger", "Float", "Double", "BigDecimal"})


class BigInteger(int):
    """An integer that Java keeps in a BigInteger though a Long would hold it: json-smart counts its digits."""


class JavaError(Exception):
    """A Java exception as Storm meets it. Its str is ``Class: text``, as ``Throwable.toString`` has it."""

    def __init__(self, cls: str, text: str) -> None:
        """Keep both parts; half a surrogate pair is shown as Java's encoder shows it: ``?``."""
        self.cls = cls
        self.text = from_units(text).encode("utf-8", "replace").decode()
        super().__init__(f"{self.cls}: {self.text}")


def null_pointer(invoked: str, what: str) -> JavaError:
    """Make the NullPointerException of a call on null, in the words of Java 15 and later."""
    return JavaError("java.lang.NullPointerException", f'Cannot invoke "{invoked}" because {what} is null')


def to_units(text: str) -> str:
    """Split every character beyond U+FFFF into its two surrogates: Java counts positions in such units."""
    if text.isascii():
        return text
    if max(text) <= "\uffff":
        return text
    return _BEYOND.sub(lambda astral: "".join(map(chr, struct.unpack(">2H", astral[0].encode("utf-16-be")))), text)


def from_units(units: str) -> str:
    """Join surrogate pairs again; a lone surrogate stays one."""
    if units.isascii():
        return units
    return units.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")


def java_class(value: Json, dialect: Dialect) -> str:
    """Name the Java class, without its package, that the dialect's parser gives for this value."""
    if value is None:
        return "null"
    if isinstance(value, BigInteger):
        return "BigInteger"
    if isinstance(value, int) and not isinstance(value, bool):
        return _integer_class(value, dialect)
    if isinstance(value, float):
        return "Float" if math.isnan(value) else "Double"
    names = {bool: "Boolean", str: "String", Decimal: "BigDecimal", list: "JSONArray", dict: "JSONObject"}
    return names[type(value)]


def _integer_class(value: int, dialect: Dialect) -> str:
    if dialect != "smart":
        return "Long"
    if value == wrap(value, _INT_BITS):
        return "Integer"
    return "Long" if value == wrap(value, _LONG_BITS) else "BigInteger"


def json_object(dialect: Dialect) -> str:
    """Name the class of a JSON object in full."""
    return _JSON_PACKAGES[dialect] + "JSONObject"


def cast(value: Json, target: str, dialect: Dialect) -> Json:
    """Return the value if Java would cast it to `target`, a full class name; null passes.

    Raises JavaError (ClassCastException), in the words of Java 11 and later.
    """
    name = java_class(value, dialect)
    package = _JSON_PACKAGES[dialect] if name.startswith("JSON") else _PACKAGES.get(name, "java.lang.")
    fits = (target == NUMBER and name in _NUMBERS) or (target == LIST and name == "JSONArray")
    if value is None or fits or package + name == target:
        return value
    raise JavaError("java.lang.ClassCastException", _cannot_cast(package + name, target))


def _cannot_cast(source: str, target: str) -> str:
    homes = [_home(source), _home(target)]
    if homes[0] == homes[1]:
        where = f"{source} and {target} are in {homes[0]}"
    else:
        where = f"{source} is in {homes[0]}; {target} is in {homes[1]}"
    return f"class {source} cannot be cast to class {target} ({where})"


def _home(cls: str) -> str:
    return "module java.base of loader 'bootstrap'" if cls.startswith("java.") else "unnamed module of loader 'app'"


def wrap(value: int, bits: int) -> int:
    """Keep the low bits as a signed number, as a narrowing conversion of an integer does."""
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def int_value(number: float | Decimal) -> int:
    """``Number.intValue``: integers and decimals keep their low 32 bits, floating point saturates, NaN is 0."""
    if isinstance(number, float):
        if math.isnan(number):
            return 0
        limit = 1 << (_INT_BITS - 1)
        return int(max(-limit, min(limit - 1, number)))
    return wrap(whole(number), _INT_BITS)


def whole(number: float | Decimal) -> int:
    """Cut the fraction off. What is not finite, or a decimal too large to write out, is 0."""
    if isinstance(number, int):
        return number
    huge = isinstance(number, Decimal) and number.adjusted() > _LONG_BITS * 16
    return 0 if huge or not math.isfinite(number) else int(number)


def value_text(value: Json) -> str:
    """``String.valueOf`` of a value that is neither list nor dict; the size of an integer too long for a text."""
    if isinstance(value, bool) or value is None:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"an integer of {value.bit_length():,} bits"
    return double_text(value) if isinstance(value, float) else str(value)


def double_text(value: float) -> str:
    """``Double.toString`` of Java 19 and later; before, some few values had other last digits."""
    if not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_TO:
        text = format(Decimal(repr(value)), "f")
        return text if "." in text else text + ".0"
    sign, digits, _ = Decimal(repr(value)).normalize().as_tuple()
    first, rest = digits[0], "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{first}.{rest}E{Decimal(repr(value)).adjusted()}"
