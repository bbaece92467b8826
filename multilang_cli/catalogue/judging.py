"""Makes judges: with the schemas of values that a profile brings along, which need a validator and so can't be core."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.catalogue.bound import MOST_SECONDS, Bound, SpentError
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.roles import roles_of
from multilang_cli.protocol.words.shortening import ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.judge.context import ValuesCheck
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Profile

SHOWN_OF_REASON = 160
"""Characters of a reason, whose middle is left out if it is longer."""
_FREE_PER_BYTE = 1e-4
"""Seconds that it may take to look at a schema, for each of its bytes."""
_MOST_PROBED = 8
"""Values of a tuple that a schema is tried with, so that it reaches what it says of the first few by their place."""
_PROBED: tuple[Any, ...] = (None, "", 0, [], {})
"""Values that a schema is tried with: one of each kind reaches what it refers to."""


class SchemaFault(NamedTuple):
    """A schema of values that is none: the place in it, and one sentence without a full stop."""

    path: tuple[str | int, ...]
    why: str


def schema_fault(schema: Any) -> SchemaFault | None:
    """The reason why a stream's values can't be held to `schema`, a file's or a recording's; None if they can."""
    return _fault_of(msgspec.json.encode(schema))


@lru_cache(maxsize=64)
def _fault_of(encoded: bytes) -> SchemaFault | None:
    """As `schema_fault`, of a schema as JSON: each header of a recording in parts has the same one."""
    schema = msgspec.json.decode(encoded)
    try:
        with Bound().over(len(encoded) * _FREE_PER_BYTE):
            return _fault_in(schema)
    except SpentError:
        return SchemaFault((), f"a JSON Schema that computes for more than {MOST_SECONDS:.0f} s")


def _fault_in(schema: Any) -> SchemaFault | None:
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415 (slow to import)

    for at, target in _references(schema):
        if not target.startswith("#"):
            shown = ends(target, SHOWN_OF_REASON)
            return SchemaFault(at, f"{shown!r} is somewhere else: nothing is fetched; write it in here")
    try:
        Draft202012Validator.check_schema(schema)
        check = _checks({"": schema})
        for values in ([], *([value] * _MOST_PROBED for value in _PROBED)):
            check("", values)
    except SchemaError as error:
        return SchemaFault(tuple(error.absolute_path), f"no JSON Schema: {ends(error.message, SHOWN_OF_REASON)}")
    except _inapplicable() as error:
        why = "it refers to itself without end" if isinstance(error, RecursionError) else str(error)
        return SchemaFault((), f"no JSON Schema that can be applied: {ends(why, SHOWN_OF_REASON)}")
    return None


def _inapplicable() -> tuple[type[Exception], ...]:
    """The exceptions of a validator for a schema that is one, and still can't be applied."""
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    return (RecursionError, re.error, Unresolvable)


def _references(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every ``$ref`` of a schema, with where it stands."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        if step in {"$ref", "$dynamicRef"} and isinstance(item, str):
            yield (*path, step), item
        else:
            yield from _references(item, (*path, step))


def judge_of(profile: Profile, rulebook: Rulebook, bound: Bound | None = None) -> Conversation:
    """The judge of one conversation. Raises KeyError for an unknown Storm version, as `Conversation` does.

    `bound`: of the schemas of its streams' values, where they are a recording's.
    """
    return Conversation(profile, rulebook, values_check(profile, bound), roles_of(profile))


def values_check(profile: Profile, bound: Bound | None = None) -> ValuesCheck | None:
    """Holds values to the JSON Schemas (2020-12) of the profile's streams; None if it has none.

    `bound`: after which they are held to none. Nothing is fetched: a schema can refer to itself only, which
    `schema_fault` sees to.
    """
    schemas = {name: spec.schema for name, spec in (profile.streams or {}).items() if spec.schema is not None}
    if not schemas:
        return None
    check = _checks(schemas)
    inapplicable: tuple[type[Exception], ...] = (SpentError, *_inapplicable())

    def check_applicable(stream: str, values: list[Json]) -> str:
        """Hold values to a schema; one that turns out to be inapplicable is no fault of the component's."""
        try:
            return check(stream, values) if bound is None else bound.reason(values, lambda: check(stream, values))
        except inapplicable:
            return ""

    return check_applicable


def _checks(schemas: dict[str, Any]) -> ValuesCheck:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 (slow to import, and seldom needed)
    from jsonschema.exceptions import best_match  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    nowhere: Any = Registry()
    validators = {name: Draft202012Validator(schema, registry=nowhere) for name, schema in schemas.items()}

    def check(stream: str, values: list[Json]) -> str:
        """The reason why the schema of a stream refuses its values, "" if it does not or there is none."""
        validator = validators.get(stream)
        if validator is None:
            return ""
        worst = best_match(validator.iter_errors(values))
        if worst is None:
            return ""
        place = "".join(f"[{step!r}]" for step in worst.absolute_path)
        return f"{place}{': ' if place else ''}{ends(worst.message, SHOWN_OF_REASON)}"

    return check
