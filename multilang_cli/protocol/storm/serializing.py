"""Values that can be sent to another worker: since 2.0 Storm's Kryo takes classes that are registered, and no others.

Conf can register more of them, or have Java serialize the rest (``SerializationFactory``, ``DefaultKryoFactory``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.words.large import LargeValues
from multilang_cli.protocol.words.rulebook import HARMLESS, VersionEffect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from multilang_cli.protocol.storm.dialects import Dialect
    from multilang_cli.protocol.words.messages import Json

FALL_BACK = "topology.fall.back.on.java.serialization"
REGISTER = "topology.kryo.register"
_PACKAGES = {"smart": "org.apache.storm.shade.net.minidev.json.", "simple": "org.apache.storm.shade.org.json.simple."}
"""Where a parser's arrays and objects live, of those that meet a strict Kryo."""


def registered(conf: Mapping[str, Any]) -> frozenset[str]:
    """The classes that conf registers: their names in a list, in objects in it, or as the keys of one object."""
    told = conf.get(REGISTER)
    names: set[str] = set()
    for each in told if isinstance(told, list) else [told]:
        if isinstance(each, str):
            names.add(each)
        elif isinstance(each, dict):
            names.update(each)
    return frozenset(names)


def effects_with(
    conf: Mapping[str, Any],
    hazard: str,
    values: Sequence[Json],
    effects: dict[str, VersionEffect],
    dialects: Mapping[str, Dialect],
) -> dict[str, VersionEffect]:
    """Effects by version of `values` with a `hazard` ("nested", "decimal"), given what it does by default."""
    names = registered(conf)
    if conf.get(FALL_BACK) is not True and not names:
        return effects
    return {
        version: HARMLESS
        if effect.fate == "loses-data"
        and (conf.get(FALL_BACK) is True or _classes(hazard, values, dialects[version]) <= names)
        else effect
        for version, effect in effects.items()
    }


def _classes(hazard: str, values: Sequence[Json], dialect: Dialect) -> set[str]:
    """The classes of a hazard's values, as far as they need to be registered."""
    if hazard == "decimal":
        return {"java.math.BigDecimal"}
    package = _PACKAGES.get(dialect, "")
    kinds = values.holders() if isinstance(values, LargeValues) else _holders(values)
    return {package + ("JSONObject" if kind is dict else "JSONArray") for kind in kinds}


def _holders(values: Sequence[Json]) -> set[type]:
    found: set[type] = set()
    waiting: list[Any] = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, list | dict):
            waiting.extend(value.values() if isinstance(value, dict) else value)
            found.add(type(value))
    return found
