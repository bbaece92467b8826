"""A Flux file and its includes, from the disk to a topology (``Flux``, ``FluxParser``)."""

from __future__ import annotations

import os
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.texts import TextError, file_text
from multilang_cli.driver.scratch import lasting_scratch
from multilang_cli.topology.flux.building import build
from multilang_cli.topology.flux.definitions import topology_def
from multilang_cli.topology.flux.errors import FluxError, NeedsJavaError
from multilang_cli.topology.flux.substitution import Substitution
from multilang_cli.topology.flux.yaml_tree import load
from multilang_cli.topology.model import Location, Notice, Topology
from multilang_cli.topology.validation import problems
from multilang_cli.transcript.archives import ArchiveError, unpack_chosen
from multilang_cli.transcript.secrets import declare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from multilang_cli.topology.flux.definitions import IncludeDef, TopologyDef

RESOURCES = "resources"
"""The folder of a topology's jar that its components start in."""


class FluxFile(msgspec.Struct, frozen=True):
    """Contents of a Flux file. `notes`: what Storm lets pass and its user would want to know."""

    topology: Topology
    notes: tuple[Notice, ...]


def read_flux(
    path: Path,
    properties: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    resources: Path | None = None,
    storm: str | None = None,
    *,
    conf: Mapping[str, Any] | None = None,
    jars: Sequence[str] = (),
    fetch: Callable[[tuple[str, ...]], tuple[str, ...]] | None = None,
) -> FluxFile:
    """Read a Flux file, and check it by Storm's rules.

    `properties`: what stands for ``${name}`` (Flux's ``--filter``); `env`: what stands for ``${ENV-NAME}`` (Flux's
    ``--env-filter``). `resources`: the folder that components start in; by default ``resources`` beside the file, or
    the file's own. `storm`: such as "2.8.3", by default the newest. `conf`: over the file's own. `jars`: where
    included resources are looked for, too. `fetch`: gives the jars of the Maven coordinates under ``dependencies``,
    asked if such a resource is nowhere else. Raises FluxError, and what `fetch` raises.
    """
    version = storm or load_rulebook().newest.id
    folder = resources or _resources_of(path)
    reader = _Reader(Substitution(properties, env, version), path, folder, jars)
    definition = reader.definition(str(path), Location(str(path), 0))
    reader.dependencies = partial(fetch, definition.dependencies) if fetch and definition.dependencies else tuple
    for include in definition.includes:
        definition.include(reader.included(include), override=include.override)
    try:
        topology = build(definition, version, str(folder.absolute()), conf or {})
    except NeedsJavaError as error:
        error.dependencies = definition.dependencies
        vertices = (*definition.spouts.values(), *definition.bolts.values())
        error.component_conf = {each.id: {key: value.plain for key, value in each.conf.items()} for each in vertices}
        error.class_names = tuple(each.class_name for each in (*definition.components.values(), *vertices))
        error.unknown = tuple(definition.unknown)
        raise
    places = {key: each.place for key, each in definition.config.items()}
    for problem in problems(topology, version, places):
        raise FluxError(problem.place or definition.place, problem.text)
    return FluxFile(topology, (*reader.substitution.notes, *definition.notes))


def _resources_of(path: Path) -> Path:
    beside = path.parent / RESOURCES
    return beside if beside.is_dir() else path.parent


class _Reader:
    def __init__(self, substitution: Substitution, main: Path, resources: Path, jars: Sequence[str]) -> None:
        self.substitution = substitution
        self._folders = (Path(), main.parent, resources, *(Path(jar) for jar in jars if Path(jar).is_dir()))
        self._jars = [jar for jar in jars if Path(jar).is_file()]
        self.dependencies: Callable[[], tuple[str, ...]] = tuple

    def definition(self, file: str, asked: Location) -> TopologyDef:
        """Read one file. `asked`: what asked for it, for it may not be there. Raises FluxError."""
        lead = "" if asked.file == file else f"{file} "
        try:
            text = file_text(Path(file))
        except OSError as error:
            raise FluxError(asked, f"{lead}can't be read: {error.strerror}.") from None
        except UnicodeDecodeError as error:
            raise FluxError(
                asked, f"{lead}is not UTF-8: byte {error.start} is {error.object[error.start]:#x}."
            ) from None
        except TextError as error:
            raise FluxError(asked, f"{lead}can't be read: {error.why}.") from None
        tree = load(self.substitution.apply(text, file), file)
        if tree is not None:
            # What is wrong in it is quoted.
            declare([{"": tree.plain}])
        return topology_def(tree, file)

    def included(self, include: IncludeDef) -> TopologyDef:
        """Read an included file: looked for here, beside the main file and among the resources."""
        name = include.file.lstrip("/") if include.resource else include.file
        # A name from a file may be no path at all, of which pathlib says so by an error.
        places = (folder / name for folder in self._folders)
        found = next((place for place in places if os.path.isfile(place)), None)  # noqa: PTH113
        if found is None and include.resource:
            found = self._from_jar(name, include.place)
        if found is None:
            looked = ", ".join(str(folder.absolute()) for folder in dict.fromkeys(self._folders))
            way = "--jar my-topology.jar, or Maven coordinates under dependencies"
            jars = f", nor in a jar that was given ({way})" if include.resource else ""
            raise FluxError(include.place, f"the included file {include.file} is in none of {looked}{jars}.")
        return self.definition(str(found), include.place)

    def _from_jar(self, name: str, asked: Location) -> Path | None:
        """A copy of a file of a jar; None if no jar has it. Raises FluxError."""
        # Maven is asked last, and only for what is nowhere else.
        for jar in chain(self._jars, self._fetched()):
            try:
                found = unpack_chosen(Path(jar), lasting_scratch("mlcheck-included-"), name.__eq__)
            except ArchiveError as error:
                raise FluxError(asked, f"{jar} can't be read as a jar: {error}.") from None
            if found:
                return found[-1]
        return None

    def _fetched(self) -> Iterator[str]:
        yield from self.dependencies()
