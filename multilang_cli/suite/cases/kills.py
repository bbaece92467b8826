"""Mutants that each case kills: as their authors claim it, and as the last soak saw it (``conformance/kills``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.locate import data_path
from multilang_cli.subject.testee import read_mutants

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Killed(msgspec.Struct, frozen=True, kw_only=True):
    """A mutant that was played against every case: those that were red, each with the rules that were broken."""

    about: str
    kills: dict[str, tuple[str, ...]]


class Soaked(msgspec.Struct, frozen=True, kw_only=True):
    """The mutants of one home, all played (``schemas/kills.schema.json``). `suite`: the hash of the cases then."""

    home: str
    played_on: str
    storm: str
    suite: str
    mutants: dict[str, Killed]


class Kill(msgspec.Struct, frozen=True):
    """A case and a mutant that it kills, by `rules`. `seen_on`: the day on which a soak saw it, "" for a mere claim."""

    case: str
    home: str
    mutant: str
    rules: tuple[str, ...]
    seen_on: str = ""


def claimed() -> Iterator[Kill]:
    """Kills that the ``mutants.yaml`` of the shipped testees claim. Raises ConfigError."""
    for file in sorted(data_path("conformance", "testees").glob("*/mutants.yaml")):
        for name, mutant in read_mutants(file.parent).items():
            for case, rule in mutant.kills.items():
                yield Kill(case, file.parent.name, name, (rule,))


def soaked(folder: Path | None = None) -> tuple[Soaked, ...]:
    """Every soak that is stored, in `folder` or where the shipped ones are, by the name of its home."""
    files = sorted((folder or data_path("conformance", "kills")).glob("*.json"))
    return tuple(msgspec.json.decode(file.read_bytes(), type=Soaked) for file in files)


def seen(folder: Path | None = None) -> Iterator[Kill]:
    """Everything that the stored soaks saw."""
    for soak in soaked(folder):
        for name, mutant in soak.mutants.items():
            for case, rules in mutant.kills.items():
                yield Kill(case, soak.home, name, rules, soak.played_on)
