"""The published JSON Schemas: which there are, whether something holds to one, and in plain words why not.

The hot path never comes here: messages are read by ``protocol.storm.reading``, and a property test holds the two
together. jsonschema is slow to import and to run, so it is loaded when something is to be explained.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.catalogue.locate import data_path

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError
    from referencing import Registry

SUFFIX = ".schema.json"
BASE = "https://multilang-cli.dev/schemas/"
"""What the ``$id`` of every schema begins with."""

_LONGEST_NEAR = 100
"""Characters of a key that are compared: of a long text, that takes forty times its size."""
_SHOWN_OF_VALUE = 60
_JSON_TYPES: dict[type, str] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def names() -> list[str]:
    """The names of all schemas, such as ``messages/emit`` or ``transcript``, sorted."""
    root = data_path("schemas")
    return sorted(path.relative_to(root).as_posix().removesuffix(SUFFIX) for path in root.rglob("*" + SUFFIX))


@cache
def load(name: str) -> dict[str, Any]:
    """The schema `name`. Not to be changed: it is kept. Raises KeyError if there is none of that name."""
    if name not in names():
        raise KeyError(f"no schema {name!r}; there are {', '.join(names())}")
    schema: dict[str, Any] = json.loads((data_path("schemas", name + SUFFIX)).read_bytes())
    return schema


@cache
def validator(name: str) -> Draft202012Validator:
    """The validator of the schema `name`, kept. Raises KeyError if there is none of that name."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 (slow to import)

    return Draft202012Validator(load(name), registry=_registry())


@cache
def _registry() -> Registry[Any]:
    from referencing import Registry  # noqa: PLC0415 (slow to import)
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415

    return Registry().with_resources(
        (BASE + name + SUFFIX, DRAFT202012.create_resource(load(name))) for name in names()
    )


class Breach(NamedTuple):
    """A place in a value that does not hold to a schema, as a JSON pointer, and the reason."""

    pointer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.pointer or 'at the top'}: {self.reason}"


def explain(instance: Any, name: str) -> list[str]:
    """Explain why `instance` does not hold to the schema `name`: sentences, each with a JSON pointer; [] if it does.

    Raises KeyError if there is no schema of that name.
    """
    return list(map(str, breaches(instance, name)))


def breaches(instance: Any, name: str) -> list[Breach]:
    """Places at which `instance` does not hold to the schema `name`, and why. Raises KeyError if there is none."""
    from jsonschema.exceptions import relevance  # noqa: PLC0415 (slow to import)

    leaves = (_leaf(error) for error in sorted(validator(name).iter_errors(instance), key=relevance, reverse=True))
    told: dict[tuple[str, str], ValidationError] = {}
    for error in leaves:
        key = (error.json_path, str(error.validator))
        told[key] = min(told.get(key, error), error, key=_breadth)
    return list(dict.fromkeys(map(_breach, told.values())))


def _breadth(error: ValidationError) -> int:
    """Of two schemas that ask for a type, the one that allows less says what is wanted."""
    wanted: Any = error.validator_value
    return len(wanted) if isinstance(wanted, list) and error.validator == "type" else 0


def _leaf(error: ValidationError) -> ValidationError:
    """Inside alternatives: the error of the one that was most nearly met."""
    from jsonschema.exceptions import relevance  # noqa: PLC0415 (slow to import)

    while error.context:
        error = min(error.context, key=relevance)
    return error


def _breach(error: ValidationError) -> Breach:
    return Breach("".join(f"/{_escaped(step)}" for step in error.absolute_path), _reason(error))


def _escaped(step: str | int) -> str:
    shown = json.dumps(str(step).replace("~", "~0").replace("/", "~1"))[1:-1]
    return shown if len(shown) <= _SHOWN_OF_VALUE else shown[:_SHOWN_OF_VALUE] + "..."


def _reason(error: ValidationError) -> str:
    wanted: Any = error.validator_value
    instance: Any = error.instance
    keyword = str(error.validator)
    if keyword == "type":
        kinds = [wanted] if isinstance(wanted, str) else list(wanted)
        return f"{_shown(instance)} is {_kind(instance)}, not {' or '.join(kinds)}"
    if keyword == "required":
        missing = [key for key in wanted if key not in instance]
        return " and ".join(f'"{key}" is missing' for key in missing)
    if keyword == "enum":
        return f"{_shown(instance)} is none of {', '.join(map(_shown, wanted))}"
    if keyword == "const":
        return f"{_shown(instance)} is not {_shown(wanted)}"
    if keyword == "minLength" and instance == "":
        return "is empty"
    if keyword == "additionalProperties" and wanted is False:
        return _unknown_keys(instance, error.schema)
    if keyword in {"minimum", "maximum"}:
        word = "less" if keyword == "minimum" else "more"
        return f"{_shown(instance)} is {word} than {wanted}"
    return f"{_shown(instance)} breaks {keyword} {_shown(wanted)}"


def _unknown_keys(instance: dict[str, Any], schema: Any) -> str:
    known = list(schema.get("properties", ()))
    unknown = [key for key in instance if key not in known]
    near = get_close_matches(unknown[0][:_LONGEST_NEAR], known, n=1) if unknown else []
    hint = f"; did you mean {_shown(near[0])}?" if near else ""
    return f"no such key: {', '.join(map(_shown, unknown[:5]))}{hint}"


def _kind(value: Any) -> str:
    return _JSON_TYPES.get(type(value), type(value).__name__)


def _shown(value: Any) -> str:
    try:
        shown = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        shown = ascii(value)
    return shown if len(shown) <= _SHOWN_OF_VALUE else shown[:_SHOWN_OF_VALUE] + "..."
