"""The options of the commands that read a Flux file, and how it is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multilang_cli.terminal.exits import CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.topology.flux import FluxFile, NeedsJavaError
    from multilang_cli.topology.java.reading import JavaFile

Flux = Annotated[str | None, typer.Argument(metavar="FLUX", hidden=True)]
Streamparse = Annotated[
    str | None,
    typer.Option(
        "--streamparse", metavar="DIR[:NAME]", help="Instead of a file: the topology of a streamparse project."
    ),
]
Filter = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="FILE", help="Java properties that stand for ${name} in the file. Repeatable."),
]
Properties = Annotated[
    list[str] | None, typer.Option("--property", metavar="K=V", help="What stands for ${K} in the file. Repeatable.")
]
EnvFilter = Annotated[
    bool, typer.Option("--env-filter", help="Put environment variables in place of ${ENV-NAME} in the file.")
]
Resources = Annotated[
    str | None,
    typer.Option(
        "--resources", metavar="DIR", help="Where components start. Default: resources beside the file, or its folder."
    ),
]
Jars = Annotated[
    list[str] | None,
    typer.Option("--jar", metavar="JAR", help="A jar with Java components of the topology. Repeatable; needs a JDK."),
]
ClassPath = Annotated[
    str | None, typer.Option("--classpath", metavar="PATH", help="More of the class path of Java components.")
]
Ackers = Annotated[
    int | None, typer.Option("--ackers", metavar="N", min=0, help="Short for --conf topology.acker.executors=N.")
]


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
    from multilang_cli.protocol.words.verdicts import ACKERS  # noqa: PLC0415 (slow to import, and not needed for --help)
    from multilang_cli.subject.config import ConfigError  # noqa: PLC0415
    from multilang_cli.subject.flag_values import conf_value, pair  # noqa: PLC0415
    from multilang_cli.topology.flux import FluxError, NeedsJavaError, read_flux  # noqa: PLC0415
    from multilang_cli.topology.java.program import JavaHostError  # noqa: PLC0415
    from multilang_cli.topology.java.reading import JavaFile  # noqa: PLC0415
    from multilang_cli.topology.streamparse.project import ProjectError, read_project  # noqa: PLC0415
    from multilang_cli.transcript.secrets import declare  # noqa: PLC0415

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
                    Path(flux or ""), given, os.environ if env_filter else None, folder, storm, conf=over, jars=jars
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
    from multilang_cli.topology.flux import FluxError  # noqa: PLC0415 (slow to import, and not needed for --help)
    from multilang_cli.topology.java.reading import read_java_flux  # noqa: PLC0415
    from multilang_cli.topology.java.services import is_no_part_of_storm, missing  # noqa: PLC0415

    if needs.class_name and not (asked.jars or needs.dependencies) and is_no_part_of_storm(needs.class_name):
        raise FluxError(needs.place, missing(needs.class_name))
    return read_java_flux(asked.told(needs))


def _known(filters: Sequence[str]) -> dict[str, str]:
    """The properties of all files, the last wins. Raises CommandError."""
    from multilang_cli.catalogue.texts import TextError, file_text  # noqa: PLC0415
    from multilang_cli.topology.flux import read_properties  # noqa: PLC0415

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
