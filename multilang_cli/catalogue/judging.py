"""Makes judges: with the schemas of values that a profile brings along, which need a validator and so can't be core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.roles import roles_of
from multilang_cli.protocol.words.shortening import ends

if TYPE_CHECKING:
    from multilang_cli.protocol.judge.context import ValuesCheck
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Profile

SHOWN_OF_REASON = 160
"""Characters of a reason, whose middle is left out if it is longer."""


def judge_of(profile: Profile, rulebook: Rulebook) -> Conversation:
    """The judge of one conversation. Raises KeyError for an unknown Storm version, as `Conversation` does."""
    return Conversation(profile, rulebook, values_check(profile), roles_of(profile))


def values_check(profile: Profile) -> ValuesCheck | None:
    """Holds values to the JSON Schemas (2020-12) of the profile's streams; None if it has none.

    Nothing is fetched: a schema can refer to itself only, which ``subject.config`` sees to.
    """
    schemas = {name: spec.schema for name, spec in (profile.streams or {}).items() if spec.schema is not None}
    if not schemas:
        return None
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
