"""Variables that no Storm worker sets, and what it has where nothing is set (``conformance/environment.yaml``)."""

from __future__ import annotations

import msgspec

from multilang_cli.catalogue.loader import plain
from multilang_cli.catalogue.locate import data_path
from multilang_cli.catalogue.once import once


class Switch(msgspec.Struct, frozen=True):
    """A variable that changes what a program does.

    `words`: regular expressions of the words of its value that do so; the whole variable if there are none. `between`:
    characters that part words.
    """

    name: str
    language: str
    effect: str
    words: tuple[str, ...] = ()
    between: str = " "


class Locale(msgspec.Struct, frozen=True):
    """The locale that is played where `variables`, the first with a value deciding, have none or one of `plain`."""

    variables: tuple[str, ...]
    plain: tuple[str, ...]
    name: str


class TopologyEnvironment(msgspec.Struct, frozen=True):
    """Since which Storm ``topology.environment`` reaches a worker, and since which its LD_LIBRARY_PATH does."""

    since: str
    libraries_since: str


class WorkerDefaults(msgspec.Struct, frozen=True):
    """Variables that are taken away, and values for those that are unset. `path`: PATH."""

    switches: tuple[Switch, ...]
    locale: Locale
    topology: TopologyEnvironment
    path: str


@once
def load_environment() -> WorkerDefaults:
    """Everything that is known of the environment of a Storm worker."""
    return msgspec.convert(plain(data_path("conformance", "environment.yaml")), WorkerDefaults)
