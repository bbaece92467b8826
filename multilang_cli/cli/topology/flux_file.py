"""The options of the commands that read a Flux file."""

from __future__ import annotations

from typing import Annotated

import typer

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
