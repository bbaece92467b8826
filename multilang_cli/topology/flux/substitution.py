"""``${name}`` and ``${ENV-NAME}`` in a Flux file: replaced in its text, before it is read as YAML (``FluxParser``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from multilang_cli.protocol.words.rulebook import covers
from multilang_cli.topology.flux.errors import FluxError
from multilang_cli.topology.model import Location, Notice

if TYPE_CHECKING:
    from collections.abc import Mapping

_BY_LINE = ">=2.2"
_NAME = re.compile(r"\$\{(?P<var>ENV-(?P<env>.+)|(?P<list>.+)\[(?P<index>[0-9]+)\]|.+)\}")
_PLAIN = re.compile(r"\$\{([^${}]+)\}")
"""A name without braces in it."""
_LONGEST_INDEX = 10
"""Digits of an index; Java takes no longer one for a number."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_KEY = re.compile(r"(?:\\.|[^\\:= \t\f])*")
_SEPARATOR = re.compile(r"[ \t\f]*[:=]?[ \t\f]*")
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(text: str) -> dict[str, str]:
    """The properties in a text of Java's format (``Properties.load``)."""
    found = {}
    for line in _logical_lines(text):
        key = _KEY.match(line)
        assert key is not None  # noqa: S101 (it matches nothing, too)
        separator = _SEPARATOR.match(line, key.end())
        assert separator is not None  # noqa: S101 (so does this)
        found[_unescaped(key[0])] = _unescaped(line[separator.end() :])
    return found


def _logical_lines(text: str) -> list[str]:
    """Lines without comments; one that ends in an odd number of backslashes goes on in the next."""
    found: list[str] = []
    goes_on = False
    for raw in _LINE_END.split(text):
        line = raw.lstrip(" \t\f")
        if not goes_on and (not line or line[0] in "#!"):
            continue
        ends = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        part = line[:-1] if ends else line
        if goes_on:
            found[-1] += part
        else:
            found.append(part)
        goes_on = ends
    return found


def _unescaped(text: str) -> str:
    def one(escape: re.Match[str]) -> str:
        """The character of one escape."""
        what = escape[1]
        return chr(int(what[1:], 16)) if len(what) > 1 else _LETTERS.get(what, what)

    return _ESCAPE.sub(one, text)


class Substitution:
    """Variables and their values. `properties`: None without ``--filter``; `env`: None without ``--env-filter``.

    `notes`: names that Storm leaves as they are: nothing stands for them, or another name stands behind them on a line.
    """

    def __init__(self, properties: Mapping[str, str] | None, env: Mapping[str, str] | None, storm: str) -> None:
        self.notes: list[Notice] = []
        self._properties = properties
        self._env = env
        self._by_line = covers(_BY_LINE, storm)

    def apply(self, text: str, file: str) -> str:
        """The text of `file` with everything replaced. Raises FluxError where Storm dies."""
        if self._by_line:
            lines = _LINE_END.split(text)
            return "\n".join(self._line(line, Location(file, at)) for at, line in enumerate(lines, start=1))
        for name, value in (self._properties or {}).items():
            text = text.replace(f"${{{name}}}", value)
        for name, value in (self._env or {}).items():
            text = text.replace(f"${{ENV-{name}}}", value)
        return text

    def _line(self, line: str, place: Location) -> str:
        """Since 2.2: one name a line, the last, wherever it stands, and all between the last ``${`` and the last }."""
        last = line.rfind("}")
        start = line.rfind("${", 0, max(0, last - 1))
        found = _NAME.match(line, start) if start >= 0 else None
        if found is None:
            return line
        value = self._value(found, place)
        if not line.lstrip().startswith("#"):
            self._tell_left(line.replace(f"${{{found['var']}}}", ""), place)
        if value is None:
            self.notes.append(Notice(place, f"Could not find replacement for property: {found['var']}"))
            return line
        return line.replace(f"${{{found['var']}}}", value)

    def _tell_left(self, rest: str, place: Location) -> None:
        """Note the names of a line that would be replaced on lines of their own. `rest`: all but the one that is."""
        known = {*(self._properties or ()), *(f"ENV-{name}" for name in self._env or ())}
        for name in dict.fromkeys(name for name in _PLAIN.findall(rest) if name in known):
            told = f"${{{name}}} stays as it is: since Storm 2.2 Flux replaces one name a line, the last"
            self.notes.append(Notice(place, told))

    def _value(self, found: re.Match[str], place: Location) -> str | None:
        if found["env"] and self._env is not None:
            return self._env.get(found["env"])
        if self._properties is None:
            option = "--env-filter" if found["env"] else "--filter FILE"
            raise FluxError(
                place,
                f"there is nothing to put in place of ${{{found['var']}}}: give {option}. Without any properties, "
                "Storm's Flux dies here of a NullPointerException, even in a comment.",
            )
        if found["index"] is None:
            return self._properties.get(found["var"])
        return self._element(found["list"], found["index"], place)

    def _element(self, name: str, index: str, place: Location) -> str:
        """One element of a property such as ``["a", "b"]``, without its quotes, whatever they are."""
        whole = (self._properties or {}).get(name)
        if whole is None:
            raise FluxError(place, f"there is no property {name}, of which an element is asked for.")
        elements = whole[1:-1].split(",")
        # Python reads no number of thousands of digits.
        if len(index) > _LONGEST_INDEX or int(index) >= len(elements):
            shown = index[:_LONGEST_INDEX]
            raise FluxError(place, f"the property {name} has {len(elements)} elements, and no element {shown}.")
        return elements[int(index)].strip()[1:-1]
