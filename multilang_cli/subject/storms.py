"""Storm versions as the command line names them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.version import Version

from multilang_cli.catalogue.loader import load_rulebook, load_versions
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

ALL = "all"
"""Stands for every version that was verified with the real classes."""


def known_storm(storm: str) -> str:
    """The id of the version that `storm` names, any release; "" for none. Raises CommandError."""
    if not storm:
        return ""
    # As published: 0.9.2-incubating, 0.10.0-beta1, 0.9.0.1.
    numbers = ".".join(re.split(r"[.-]", storm)[:3])
    for name in (storm, f"{storm}.0", numbers):
        try:
            return load_rulebook(name).version(name).id
        except KeyError:
            continue
    known = [version.id for version in load_versions()]
    raise CommandError(f"there is no Storm version {storm[:60]!r}{did_you_mean(storm, known)}") from None


def played_storms(storm: str) -> tuple[str, ...]:
    """The ids of the versions that `storm` names, oldest first: one, several parted by commas, or "all" verified ones.

    ("",) for none, which is the newest. Raises CommandError.
    """
    if not storm:
        return ("",)
    found: set[str] = set()
    for name in map(str.strip, storm.split(",")):
        if not name:
            raise CommandError(f"--storm {storm[:60]!r}: a version is missing; write as in --storm 1.2,2.8")
        found |= {version.id for version in load_versions() if version.verified} if name == ALL else {known_storm(name)}
    return tuple(sorted(found, key=Version))


def required_storms(required: str, played: Sequence[str]) -> tuple[str, ...]:
    """Those of the versions `played`, by their ids, whose verdicts count: all if `required` is empty or "all".

    Raises CommandError for one that is not played.
    """
    if not required:
        return tuple(played)
    found: set[str] = set()
    for name in map(str.strip, required.split(",")):
        fitting = [each for each in played if name in {ALL, each} or each.startswith(f"{name}.")]
        if not fitting:
            raise CommandError(
                f"--storm-required: Storm {name[:60]!r} is not played, so nothing can be required of it; played "
                f"{'are' if len(played) > 1 else 'is'} {', '.join(played)} (--storm)"
            )
        found |= set(fitting) if name == ALL else {fitting[-1]}
    return tuple(each for each in played if each in found)
