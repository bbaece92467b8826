"""Values that only Java can read, as they stand in tuples between Java components. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.topology.groupings import GroupingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.messages import Json


class JavaValues:
    """The values of one topology. `tag`: the key by which an object is one. `tasks`: those of Java components."""

    def __init__(self, tag: str, tasks: frozenset[int]) -> None:
        self._tag = tag
        self._tasks = tasks

    def check(self, values: Sequence[Json], targets: Sequence[int]) -> None:
        """Raise GroupingError for a value that a shell component among `targets` can't be given."""
        if self._tasks.issuperset(targets):
            return
        for at, value in enumerate(values, start=1):
            if isinstance(value, dict) and self._tag in value and "json" not in value:
                raise GroupingError(
                    f"a shell component can't be given value {at} of its tuple: {value['class']} has no JSON form, and "
                    "Storm's ShellBolt dies of it"
                )

    def given(self, values: list[Json], target: int) -> list[Json]:
        """The values of a tuple as a task is given them."""
        return values if target in self._tasks else self.shown(values)

    def shown(self, values: list[Json]) -> list[Json]:
        """The values as ShellBolt's JSON makes them; the name of its class for a value that has no such form."""
        tag = self._tag
        return [
            value.get("json", value["class"]) if isinstance(value, dict) and tag in value else value for value in values
        ]
