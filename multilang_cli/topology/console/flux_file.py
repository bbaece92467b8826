"""Flux files as the command line names them, with what is put over them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.texts import TextError, file_text
from multilang_cli.protocol.words.verdicts import ACKERS
from multilang_cli.subject.flag_values import conf_value, pair
from multilang_cli.terminal.exits import CommandError
from multilang_cli.topology.declaring import components_of
from multilang_cli.topology.flux import FluxError, NeedsJavaError, read_flux, read_properties
from multilang_cli.topology.java.program import fetched
from multilang_cli.topology.java.reading import JavaFile, read_java_flux
from multilang_cli.topology.java.services import is_no_part_of_storm, missing
from multilang_cli.topology.streamparse.project import read_project
from multilang_cli.transcript.secrets import declare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.subject.options import Component
    from multilang_cli.topology.flux import FluxFile


class FluxFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Flags that name a Flux file, and what goes over it.

    `jars`, `class_path`: of Java components, for a file that names Java classes: Storm's own Flux reads it.
    `streamparse`: a project of streamparse, instead of a file. `conf` and `ackers` go over the file's.
    """

    flux: str = ""
    properties: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    env_filter: bool = False
    resources: str | None = None
    jars: tuple[str, ...] = ()
    class_path: str = ""
    streamparse: str = ""
    conf: tuple[str, ...] = ()
    ackers: int | None = None


def read_file(flags: FluxFlags, storm: str) -> FluxFile:
    """Read the file that is named. `storm`: a version's id. Raises CommandError."""
    if bool(flags.flux) == bool(flags.streamparse):
        raise CommandError("give a Flux file, or --streamparse DIR.")
    known = _known(flags.filters)
    known |= dict(pair("--property", each, "K=V") for each in flags.properties)
    over = dict(map(conf_value, flags.conf)) | ({} if flags.ackers is None else {ACKERS: flags.ackers})
    if flags.streamparse:
        found = read_project(flags.streamparse, storm, over)
    else:
        found = _read(flags, storm, known if flags.filters or flags.properties else None, over)
    declare([found.topology.conf, os.environ])
    for component in found.topology.components.values():
        declare([component.conf, component.env], component.command)
    return found


def components_of_flux(flux: str) -> tuple[Component, ...]:
    """The shell components of a file, as it stands. Raises CommandError."""
    return components_of(read_file(FluxFlags(flux=flux), "").topology)


def _read(flags: FluxFlags, storm: str, properties: dict[str, str] | None, conf: dict[str, Any]) -> FluxFile:
    """The file, read by us or, where it needs Java, by Storm. Raises FluxError, JavaHostError."""
    path, folder = Path(flags.flux), Path(flags.resources) if flags.resources else None
    jars = (*flags.jars, *(each for each in flags.class_path.split(os.pathsep) if each))
    environment = os.environ if flags.env_filter else None
    try:
        return read_flux(path, properties, environment, folder, storm, conf=conf, jars=jars, fetch=fetched)
    except NeedsJavaError as needs:
        if needs.class_name and not (jars or needs.dependencies) and is_no_part_of_storm(needs.class_name):
            raise FluxError(needs.place, missing(needs.class_name)) from None
        asked = JavaFile(
            path=path,
            storm=storm,
            jars=jars,
            dependencies=needs.dependencies,
            properties=properties,
            env=flags.env_filter,
            resources=folder,
            conf=conf,
            component_conf={**needs.component_conf},
            unknown=needs.unknown,
            class_names=needs.class_names,
        )
        return read_java_flux(asked)


def _known(filters: Sequence[str]) -> dict[str, str]:
    """The properties of all files, the last wins. Raises CommandError."""
    known: dict[str, str] = {}
    for file in filters:
        try:
            # Java's own encoding of such files.
            known |= read_properties(file_text(Path(file), "latin-1"))
        except OSError as error:
            raise CommandError(f"--filter {file}: it can't be read: {error.strerror}.") from None
        except TextError as error:
            raise CommandError(f"--filter {error}.") from None
    return known
