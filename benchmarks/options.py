"""Command lines of what is run by hand, as ``python -m benchmarks.NAME``."""

from __future__ import annotations

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Action
    from collections.abc import Collection, Iterator, Mapping

    from multilang_cli.subject.options import Component


class _WithDefaults(ArgumentDefaultsHelpFormatter):
    def _get_help_string(self, action: Action) -> str | None:
        # Where no default is set the help says what that means.
        return action.help if action.default is None else super()._get_help_string(action)


def parser_of(file: str, doc: str | None) -> ArgumentParser:
    """The parser of a module's options; its help tells their defaults."""
    prog, told = f"python -m benchmarks.{Path(file).stem}", (doc or "").splitlines()[0]
    return ArgumentParser(prog=prog, description=told, formatter_class=_WithDefaults)


def names_of(parser: ArgumentParser, known: Collection[str]) -> Collection[str]:
    """Let some of the names that are `known` be given; those that are, or all."""
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; all without one")
    names: list[str] = parser.parse_args().names
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(known)}")
    return names or known


def chosen_of(components: Mapping[str, Component], parts: Collection[str]) -> Iterator[tuple[str, Component]]:
    """The components that have one of `parts` in their names; all if there are none."""
    for name, component in components.items():
        if not parts or any(part in name for part in parts):
            yield name, component
