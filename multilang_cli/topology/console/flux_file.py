"""Flux files as the command line names them, with what is put over them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.catalogue.texts import TextError, file_text
from multilang_cli.protocol.words.verdicts import ACKERS
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.flag_values import conf_value, pair
from multilang_cli.terminal.exits import CommandError
from multilang_cli.topology.flux import FluxError, NeedsJavaError, read_flux, read_properties
from multilang_cli.topology.java.program import JavaHostError, fetched
from multilang_cli.topology.java.reading import JavaFile, read_java_flux
from multilang_cli.topology.java.services import is_no_part_of_storm, missing
from multilang_cli.topology.streamparse.project import ProjectError, read_project
from multilang_cli.transcript.secrets import declare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.topology.flux import FluxFile


def class_path_of(jars: Sequence[str], class_path: str) -> tuple[str, ...]:
    """The entries of a class path, jars first."""
    return (*jars, *(each for each in class_path.split(os.pathsep) if each))


def read_file(
    flux: str | None,
    storm: str,
    filters: Sequence[str] = (),
    properties: Sequence[str] = (),
    resources: str | None = None,
    *,
    env_filter: bool = False,
    conf: Sequence[str] = (),
    ackers: int | None = None,
    jars: Sequence[str] = (),
    project: str | None = None,
) -> FluxFile:
    """Read the file, `conf` and `ackers` over it. `storm`: a version's id. Raises CommandError.

    `jars`: of Java components, for a file that names Java classes: Storm's own Flux reads it. `project`: of
    streamparse, instead of a file.
    """
    if bool(flux) == bool(project):
        raise CommandError("give a Flux file, or --streamparse DIR.")
    try:
        known = _known(filters)
        known |= dict(pair("--property", each, "K=V") for each in properties)
        given = known if filters or properties else None
        over = dict(map(conf_value, conf)) | ({} if ackers is None else {ACKERS: ackers})
        folder = Path(resources) if resources else None
        try:
            found = (
                read_project(project, storm, over)
                if project
                else read_flux(
                    Path(flux or ""),
                    given,
                    os.environ if env_filter else None,
                    folder,
                    storm,
                    conf=over,
                    jars=jars,
                    fetch=fetched,
                )
            )
        except NeedsJavaError as needs:
            asked = JavaFile(
                path=Path(flux or ""),
                storm=storm,
                jars=tuple(jars),
                properties=given,
                env=env_filter,
                resources=folder,
                conf=over,
            )
            found = _by_java(needs, asked)
    except (ConfigError, FluxError, JavaHostError, ProjectError) as error:
        raise CommandError(str(error)) from None
    declare([found.topology.conf, os.environ])
    for component in found.topology.components.values():
        declare([component.conf, component.env], component.command)
    return found


def _by_java(needs: NeedsJavaError, asked: JavaFile) -> FluxFile:
    """The file as Storm's own Flux reads it. Raises FluxError, JavaHostError."""
    if needs.class_name and not (asked.jars or needs.dependencies) and is_no_part_of_storm(needs.class_name):
        raise FluxError(needs.place, missing(needs.class_name))
    return read_java_flux(asked.told(needs))


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
