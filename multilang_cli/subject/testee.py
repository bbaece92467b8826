"""A library's testee: what its ``testee.yaml`` says, as components that the suite can start."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from multilang_cli.catalogue.loader import CatalogueError, plain, problems
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.options import ACCEPTS, Component

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "testee.yaml"
KNOWN_FAILURES = "known-failures-{}.txt"
"""The file of known failures of one part, beside it, if its library has some (``docs/known-failures.md``)."""


class TesteeLibrary(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from"}):
    """The library that a testee is made with: its name, its version, and where it can be had."""

    name: str
    version: str
    source: str = ""


class Testee(msgspec.Struct, frozen=True, kw_only=True):
    """A testee, as its file describes it (``schemas/testee.schema.json``). `folder`: where it stands."""

    contract: str
    name: str
    language: str
    library: TesteeLibrary
    supports: tuple[str, ...]
    prepare: tuple[tuple[str, ...], ...] = ()
    bolt: tuple[str, ...] = ()
    basic_bolt: tuple[str, ...] = ()
    batch_bolt: tuple[str, ...] = ()
    spout: tuple[str, ...] = ()
    pid: Literal["own", "foreign"] = "own"
    limits: dict[str, float] = {}
    notes: str = ""
    folder: Path = Path()

    def components(self) -> tuple[Component, ...]:
        """Its bolt, its basic bolt, its batch bolt and its spout, those that there are."""
        return tuple(self._components())

    def _components(self) -> Iterator[Component]:
        parts: tuple[tuple[Literal["bolt", "basic", "batch", "spout"], tuple[str, ...]], ...] = (
            ("bolt", self.bolt),
            ("basic", self.basic_bolt),
            ("batch", self.batch_bolt),
            ("spout", self.spout),
        )
        for part, command in parts:
            known = self.folder / KNOWN_FAILURES.format(part)
            if command:
                yield Component(
                    command=command,
                    kind="spout" if part == "spout" else "bolt",
                    name=f"{self.name}-{part}",
                    cwd=str(self.folder),
                    accepts=tuple(word for word in ACCEPTS if word != "ticks" or "ticks" in self.supports),
                    features=self.supports,
                    testee=part,
                    pid=self.pid,
                    limits=self.limits,
                    known_failures=str(known) if known.is_file() else "",
                )


def read_testee(folder: Path | str) -> Testee:
    """The testee in `folder`. Raises ConfigError, which says what is wrong in its file, and where."""
    path = Path(folder) / FILE
    if not path.is_file():
        raise ConfigError(f"{folder}: there is no {FILE} in it; mlcheck docs testees has the contract.")
    try:
        if wrong := problems(path, "testee"):
            raise ConfigError("\n".join(wrong))
        return msgspec.convert({**plain(path), "folder": Path(folder).resolve()}, Testee)
    except CatalogueError as error:
        raise ConfigError(str(error)) from None


def prepare(testee: Testee) -> None:
    """Run the commands that install or build a testee; what they say goes to stderr. Raises ConfigError."""
    for command in testee.prepare:
        try:
            code = subprocess.run(
                command, cwd=testee.folder, stdin=subprocess.DEVNULL, stdout=2, check=False
            ).returncode
        except OSError as error:
            raise ConfigError(f"{testee.folder.name}: {shlex.join(command)}: {error.strerror}.") from None
        if code:
            raise ConfigError(f"{testee.folder.name}: {shlex.join(command)} ended with code {code}; see above.")


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """One planted bug of a testee. `kills`: cases that show it, each with the rule that must be found."""

    about: str
    kills: dict[str, str]


VARIABLE = "MLCHECK_MUTANT"
"""The environment variable that names the bug a testee is to have."""


def read_mutants(folder: Path | str) -> dict[str, Mutant]:
    """The mutants of the testee in `folder` by their names; none if it has no ``mutants.yaml``. Raises ConfigError."""
    path = Path(folder) / "mutants.yaml"
    if not path.is_file():
        return {}
    try:
        if wrong := problems(path, "mutants"):
            raise ConfigError("\n".join(wrong))
        return msgspec.convert(plain(path), dict[str, Mutant])
    except CatalogueError as error:
        raise ConfigError(str(error)) from None
