"""A YAML 1.1 text as values that know where they stand, read as SnakeYAML reads it, but with safe tags only."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import yaml

from multilang_cli.catalogue.yaml_texts import check_bounds
from multilang_cli.topology.flux.errors import FluxError
from multilang_cli.topology.model import Location

MOST_VALUES = 100_000
"""Values in a file, aliases written out: far more than any topology has."""

_FLOAT = "tag:yaml.org,2002:float"


class Located(NamedTuple):
    """A value: a scalar, a dict of Located by key, or a list of Located. `text`: a scalar as it is written.

    `place`: of its key, if it has one.
    """

    value: Any
    text: str
    place: Location

    @property
    def plain(self) -> Any:
        """The value without places."""
        if isinstance(self.value, dict):
            return {key: each.plain for key, each in self.value.items()}
        return [each.plain for each in self.value] if isinstance(self.value, list) else self.value


class _Loader(yaml.SafeLoader):
    """YAML 1.1 with SnakeYAML's floats, of which PyYAML lacks those with an exponent and no point."""


_Loader.add_implicit_resolver(_FLOAT, re.compile(r"^[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+$"), list("-+0123456789"))


def load(text: str, file: str) -> Located | None:
    """The one document of `text`, None if it is empty. Raises FluxError."""
    loader: _Loader | None = None
    try:
        check_bounds(text, MOST_VALUES)
        loader = _Loader(text)
        node = loader.get_single_node()
        return None if node is None else _Reader(loader, file).located(node)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        told = ", ".join(part for part in (fault.context, fault.problem) if part)
        raise FluxError(Location(file, mark.line + 1 if mark else 1), f"this is no YAML: {told}.") from None
    except yaml.reader.ReaderError as fault:
        line = text.count("\n", 0, fault.position) + 1
        raise FluxError(Location(file, line), f"this is no YAML: {fault.reason} (U+{fault.character:04X}).") from None
    except RecursionError:
        raise FluxError(Location(file, 1), "this is nested too deep, or an alias stands in its own anchor.") from None
    finally:
        if loader is not None:
            loader.dispose()


class _Reader:
    def __init__(self, loader: _Loader, file: str) -> None:
        self._loader = loader
        self._file = file

    def located(self, node: yaml.Node) -> Located:
        """The node's value. Raises FluxError."""
        place = Location(self._file, node.start_mark.line + 1)
        if isinstance(node, yaml.ScalarNode):
            return Located(self._scalar(node, place), node.value, place)
        value = self._mapping(node, place) if isinstance(node, yaml.MappingNode) else self._sequence(node)
        return Located(value, "", place)

    def _scalar(self, node: yaml.ScalarNode, place: Location) -> Any:
        if node.tag not in self._loader.yaml_constructors:
            raise FluxError(place, f"the tag {node.tag} asks for a Java object: only plain YAML is read.")
        try:
            value = self._loader.construct_object(node)
            node.value.encode()
        except (ValueError, OverflowError, AttributeError, KeyError):
            raise FluxError(place, f"{node.value[:80]!r} is no value of {node.tag}.") from None
        return value

    def _sequence(self, node: yaml.Node) -> list[Located]:
        return [self.located(child) for child in node.value]

    def _mapping(self, node: yaml.MappingNode, place: Location) -> dict[Any, Located]:
        if node.tag != "tag:yaml.org,2002:map":
            raise FluxError(place, f"the tag {node.tag} asks for a Java object: only plain YAML is read.")
        self._loader.flatten_mapping(node)
        found = {}
        for key, value in node.value:
            line = Location(self._file, key.start_mark.line + 1)
            if not isinstance(key, yaml.ScalarNode):
                raise FluxError(line, "a key must be a scalar.")
            found[self._scalar(key, place)] = self.located(value)._replace(place=line)
        return found
