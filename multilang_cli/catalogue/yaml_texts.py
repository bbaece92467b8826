"""YAML texts that people hand over, within bounds, as values that JSON can say too.

libyaml's composer recurses in C: a text that is nested too deep would end the process. Aliases of aliases stand for
more than any memory holds. Both are seen in the events, which are parsed without recursion.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import yaml

from multilang_cli.catalogue.texts import MOST_DIGITS, MOST_LEVELS, TextError, check_size

if TYPE_CHECKING:
    _Parser = yaml.SafeLoader
else:
    _Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MOST_VALUES = 500_000
"""Values in a text, aliases written out."""

_OPENERS = b"[{-:?,"


def yaml_value(data: bytes | str, name: str) -> Any:
    """The one value of a YAML text; dates are strings as they are written. Raises TextError."""
    check_size(data, name)
    try:
        check_bounds(data)
        return yaml.load(data, Loader=PlainLoader)  # noqa: S506 (it is a safe one)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise TextError(name, mark.line + 1 if mark else None, f"no YAML: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        raise TextError(name, None, f"no YAML: {error.reason} at position {error.position}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise TextError(name, None, f"no YAML: {error}") from None


def check_bounds(data: bytes | str, most: int = MOST_VALUES) -> None:
    """Raise yaml.MarkedYAMLError for a text of more than `most` values, or too deep; yaml.YAMLError if it is none.

    To parse the events costs as much as building the values, so it is spared where nothing can be wrong.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if sum(raw.count(opener) for opener in _OPENERS) <= MOST_LEVELS and b"*" not in raw:
        return
    tally = _Tally(most)
    for event in yaml.parse(data, Loader=_Parser):
        tally.add(event)


def lines_of(text: str | bytes) -> dict[str, int]:
    """The line of every value, counted from 1, by JSON pointer. JSON can be given too: it is nearly YAML.

    Raises yaml.YAMLError for what is none, and RecursionError for what is nested too deep.
    """
    found: dict[str, int] = {}
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", yaml.compose(text, Loader=_Parser))]
    while waiting:
        pointer, node = waiting.pop()
        # An anchor can stand in itself: each node is looked at once.
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        found[pointer] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            waiting += [(f"{pointer}/{_step(key)}", value) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [(f"{pointer}/{index}", value) for index, value in enumerate(node.value)]
    return found


def _step(key: Any) -> str:
    return str(key.value).replace("~", "~0").replace("/", "~1")


class _Tally:
    """The size of what a text stands for, event by event."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values = 0
        self._sizes: dict[str | None, int] = {}
        self._open: list[tuple[str | None, int]] = []

    def add(self, event: Any) -> None:
        """Count the values of one more event, those of an alias again. Raises YAMLError if there are too many."""
        if isinstance(event, yaml.CollectionStartEvent):
            self._open.append((event.anchor, self._values))
            self._values += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = self._open.pop()
            self._sizes[anchor] = self._values - before
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.ScalarEvent):
            self._values += 1
        if len(self._open) > MOST_LEVELS:
            fail(f"nested too deep: more than {MOST_LEVELS} levels", event)
        if self._values > self._most:
            fail(f"more than {self._most:,} values, aliases written out", event)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if any(event.anchor == anchor for anchor, _ in self._open):
            fail("an alias stands in what it names", event)
        self._values += self._sizes.get(event.anchor, 1)


def fail(problem: str, at: Any) -> NoReturn:
    """Raise yaml.MarkedYAMLError with the mark of an event or a node."""
    raise yaml.MarkedYAMLError(problem=problem, problem_mark=at.start_mark)


def _refuse_twice(node: yaml.MappingNode) -> None:
    """Raise yaml.MarkedYAMLError for a key that stands twice: the first would be lost without a word."""
    keys: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            if key.value in keys:
                fail(f"the key {key.value[:60]!r} stands here twice", key)
            keys.add(key.value)


class PlainLoader(_Parser):
    """Safe YAML that says what JSON can say, and where it does not."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT002 (PyYAML's)
        """A dict; a key that YAML takes for a number or a date is the string that it is written as."""
        if not isinstance(node, yaml.MappingNode):
            fail("expected a mapping", node)
        _refuse_twice(node)
        self.flatten_mapping(node)
        found: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                fail("a key must be a string", key)
            found[key.value] = self.construct_object(value, deep=deep)
        return found

    def finite(self, node: Any) -> float:
        """A number of JSON."""
        number = self._number(node, self.construct_yaml_float)
        if not math.isfinite(number):
            fail(f"{node.value[:40]} is no JSON number", node)
        return float(number)

    def integer(self, node: Any) -> int:
        """An integer of no more digits than are read again."""
        return int(self._number(node, self.construct_yaml_int))

    def _number(self, node: Any, construct: Any) -> Any:
        if not isinstance(node, yaml.ScalarNode) or len(node.value) > MOST_DIGITS:
            fail(f"a number may have {MOST_DIGITS} characters", node)
        try:
            return construct(node)
        except (ValueError, IndexError):
            fail(f"{node.value[:40]!r} is no number", node)

    def boolean(self, node: Any) -> bool:
        """True or false, where a tag says so too."""
        try:
            return bool(self.construct_yaml_bool(node))
        except (KeyError, AttributeError):
            fail("neither true nor false", node)

    def other(self, node: Any) -> NoReturn:
        """Refuse what JSON has no value for."""
        fail(f"a value with the tag {node.tag[:60]!r}, which is not for such a file", node)


PlainLoader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
    for first, pairs in _Parser.yaml_implicit_resolvers.items()
}
PlainLoader.yaml_constructors = {
    "tag:yaml.org,2002:null": _Parser.construct_yaml_null,
    "tag:yaml.org,2002:bool": PlainLoader.boolean,
    "tag:yaml.org,2002:int": PlainLoader.integer,
    "tag:yaml.org,2002:float": PlainLoader.finite,
    "tag:yaml.org,2002:str": _Parser.construct_yaml_str,
    "tag:yaml.org,2002:seq": _Parser.construct_yaml_seq,
    "tag:yaml.org,2002:map": _Parser.construct_yaml_map,
    None: PlainLoader.other,
}
