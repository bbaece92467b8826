"""Errors in Flux files, with their places."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from multilang_cli.terminal.exits import CommandError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from multilang_cli.topology.model import Location


class FluxError(CommandError):
    """A file that Storm, or mlcheck, can't make a topology of. Its str is ``file:line: sentence``."""

    def __init__(self, place: Location, sentence: str) -> None:
        super().__init__(f"{place}: {sentence}")
        self.place = place
        self.sentence = sentence


class NeedsJavaError(FluxError):
    """A file with parts that only Java can make: Storm's own Flux may.

    `class_name`: the first class that is not known, "" if it is no matter of a class. `dependencies`: Maven coordinates
    that the file names. `component_conf`: its conf of single components. `unknown`: places of keys that no Flux
    knows. `class_names`: all that it names.
    """

    dependencies: tuple[str, ...] = ()
    component_conf: Mapping[str, dict[str, Any]] = MappingProxyType({})
    unknown: tuple[Location, ...] = ()
    class_names: tuple[str, ...] = ()

    def __init__(self, place: Location, sentence: str, class_name: str = "") -> None:
        super().__init__(place, sentence)
        self.class_name = class_name
